// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {ExecutorHook} from "./modules/ExecutorHook.sol";
import {IHookHandler, IMessageReceiver} from "./modules/Interfaces.sol";
import {Words} from "./modules/Words.sol";

/// @title GenericExecutor
/// @notice Delivers messages whose tokens are minted for it, and has a handler use them as the hook data says. What a handler does not
/// use, or fails to, goes to the account for recovery that the hook data names: see ExecutorHook. Where it names none, the coins go to
/// the sender of the burn; the contract of prepaid fees burns nothing of that kind.
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

    /// @notice The message transmitter of this chain.
    IMessageReceiver public immutable messageTransmitter;
    /// @notice The token that messages mint.
    IERC20 public immutable token;

    event Executed(bytes32 indexed nonce, address indexed handler, uint256 amount);
    event Recovered(bytes32 indexed nonce, address indexed account, uint256 amount);

    error NotEnoughGas();
    error OnlyItself();

    constructor(IMessageReceiver messageTransmitter_, IERC20 token_) {
        require(address(messageTransmitter_) != address(0), "MessageTransmitter not set");
        require(address(token_) != address(0), "Token not set");
        messageTransmitter = messageTransmitter_;
        token = token_;
    }

    /// @notice Delivers an attested message and uses what it mints for this contract. What it mints for another account stays there:
    /// a message that names this contract as its deliverer has no other one.
    function receiveAndExecute(bytes calldata message, bytes calldata attestation) external nonReentrant {
        uint256 before = token.balanceOf(address(this));
        require(messageTransmitter.receiveMessage(message, attestation), "Message not received");
        uint256 amount = token.balanceOf(address(this)) - before;
        if (amount == 0) return;
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
        return ExecutorHook.callIn(message[HOOK_DATA:]);
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
