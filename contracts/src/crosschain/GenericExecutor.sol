// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {IHookHandler, IMessageReceiver} from "./modules/Interfaces.sol";
import {Words} from "./modules/Words.sol";

/// @title GenericExecutor
/// @notice Delivers messages whose tokens are minted for it, and has a handler use them as the hook data says. What a handler does not
/// use, or fails to, goes to the account for recovery that the hook data names.
///
/// Hook data, behind the body of the burn; numbers are big-endian:
///
///   field            offset  bytes
///   "cctp-forward"        0     32  the request for the delivery: see the attestation service
///   magic                32     24  "circle-generic-executor", then zeros
///   version              56      4  1
///   length               60      4  of the rest
///   call                 64   rest  abi.encode(uint8 version, bytes32 recovery, address handler, bytes data)
///
/// @dev Any account may deliver: what happens depends on the message alone, also on the gas that the account gives.
contract GenericExecutor is ReentrancyGuardTransient {
    using SafeERC20 for IERC20;
    using Words for bytes;

    /// @notice Gas that a handler can use.
    uint256 public constant HANDLER_GAS = 300_000;
    /// @dev Gas that the work after a handler needs, with room.
    uint256 private constant REST_GAS = 100_000;

    /// @dev Places in the message: its nonce, and in the body of the burn its sender and the hook data.
    uint256 private constant NONCE = 12;
    uint256 private constant MESSAGE_SENDER = 248;
    uint256 private constant HOOK_DATA = 376;

    bytes24 private constant MAGIC = "circle-generic-executor";
    uint8 private constant VERSION = 1;

    /// @notice The message transmitter of this chain.
    IMessageReceiver public immutable messageTransmitter;
    /// @notice The token that messages mint.
    IERC20 public immutable token;

    event Executed(bytes32 indexed nonce, address indexed handler, uint256 amount);
    event Recovered(bytes32 indexed nonce, address indexed account, uint256 amount);

    error NothingMinted();
    error NotEnoughGas();
    error OnlyItself();
    error InvalidHookData();

    constructor(IMessageReceiver messageTransmitter_, IERC20 token_) {
        require(address(messageTransmitter_) != address(0), "MessageTransmitter not set");
        require(address(token_) != address(0), "Token not set");
        messageTransmitter = messageTransmitter_;
        token = token_;
    }

    /// @notice Delivers an attested message and uses what it mints for this contract.
    function receiveAndExecute(bytes calldata message, bytes calldata attestation) external nonReentrant {
        uint256 before = token.balanceOf(address(this));
        require(messageTransmitter.receiveMessage(message, attestation), "Message not received");
        uint256 amount = token.balanceOf(address(this)) - before;
        if (amount == 0) revert NothingMinted();
        bytes32 nonce = message.wordAt(NONCE);
        try this.callIn(message) returns (address recovery, address handler, bytes memory data) {
            // Otherwise an account that gives little gas could have the handler fail.
            if (gasleft() < (HANDLER_GAS * 64) / 63 + REST_GAS) revert NotEnoughGas();
            try this.handOver{gas: HANDLER_GAS}(IHookHandler(handler), amount, data) {
                emit Executed(nonce, handler, amount);
            } catch {
                _recover(nonce, recovery, amount);
            }
        } catch {
            _recover(nonce, Words.toAddress(message.wordAt(MESSAGE_SENDER)), amount);
        }
    }

    /// @notice The call in the hook data of a message. Reverts for hook data of another form.
    function callIn(bytes calldata message)
        external
        pure
        returns (address recovery, address handler, bytes memory data)
    {
        bytes calldata hook = message[HOOK_DATA:];
        if (bytes24(hook[32:56]) != MAGIC || hook.uint32At(56) != VERSION) revert InvalidHookData();
        uint8 version;
        bytes32 account;
        (version, account, handler, data) =
            abi.decode(hook[64:64 + hook.uint32At(60)], (uint8, bytes32, address, bytes));
        recovery = Words.toAddress(account);
        if (version != VERSION || recovery == address(0)) revert InvalidHookData();
    }

    /// @notice Part of `receiveAndExecute` that is undone as a whole where it fails.
    function handOver(IHookHandler handler, uint256 amount, bytes calldata data) external {
        if (msg.sender != address(this)) revert OnlyItself();
        token.safeTransfer(address(handler), amount);
        handler.handle(token, amount, data);
    }

    function _recover(bytes32 nonce, address account, uint256 amount) private {
        token.safeTransfer(account, amount);
        emit Recovered(nonce, account, amount);
    }
}
