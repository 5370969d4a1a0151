// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";

import {BurnBody} from "./modules/BurnBody.sol";
import {Denylistable} from "./modules/Denylistable.sol";
import {IMessageHandler, IMessageSender, IMintBurnToken, ITokenMinter} from "./modules/Interfaces.sol";
import {MessengerConfiguration} from "./modules/MessengerConfiguration.sol";
import {Rescuable} from "./modules/Rescuable.sol";
import {Words} from "./modules/Words.sol";

/// @title TokenMessengerV2
/// @notice Burns tokens here and tells the messenger of another chain to mint them there; mints what those tell it to.
///
/// Rescuable               the rescuer takes out tokens that were sent here by mistake
/// Denylistable            the denylister keeps single accounts from burning
/// MessengerConfiguration  the owner's decisions: other messengers, the minter, fees
/// BurnBody                the bytes of the message about a burn
///
/// @dev The implementation cannot be initialised; it is deployed as MessageTransmitterV2 is: see there.
contract TokenMessengerV2 is IMessageHandler, Initializable, Rescuable, Denylistable, MessengerConfiguration {
    using BurnBody for bytes;

    struct TokenMessengerV2Roles {
        address owner;
        address rescuer;
        address feeRecipient;
        address denylister;
        address tokenMinter;
        address minFeeController;
    }

    /// @dev The arguments of a burn in one place: they are more than the stack holds.
    struct Deposit {
        uint256 amount;
        uint32 destinationDomain;
        bytes32 mintRecipient;
        address burnToken;
        bytes32 destinationCaller;
        uint256 maxFee;
        uint32 minFinalityThreshold;
    }

    /// @dev Messages that were attested below this are not acted on: nothing says what they mean.
    uint32 private constant LOWEST_THRESHOLD = 500;

    /// @notice The message transmitter of this chain.
    address public immutable localMessageTransmitter;
    /// @notice The version of the bodies of messages.
    uint32 public immutable messageBodyVersion;

    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );
    event MintAndWithdraw(
        address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected
    );

    modifier onlyPeer(uint32 domain, bytes32 sender) {
        require(msg.sender == localMessageTransmitter, "Invalid message transmitter");
        require(
            sender != bytes32(0) && sender == remoteTokenMessengers[domain], "Remote TokenMessenger unsupported"
        );
        _;
    }

    constructor(address messageTransmitter, uint32 messageBodyVersion_) {
        require(messageTransmitter != address(0), "MessageTransmitter not set");
        localMessageTransmitter = messageTransmitter;
        messageBodyVersion = messageBodyVersion_;
        _disableInitializers();
    }

    /// @notice Appoints the roles and names the messengers of other chains, once.
    /// @param newMinFee in parts of MIN_FEE_MULTIPLIER
    /// @param domains those of other chains; `messengers` are theirs, in the same order
    function initialize(
        TokenMessengerV2Roles calldata roles,
        uint256 newMinFee,
        uint32[] calldata domains,
        bytes32[] calldata messengers
    ) external initializer {
        require(roles.owner != address(0), "Owner is the zero address");
        require(domains.length == messengers.length, "Invalid remote domain configuration");

        _setOwner(roles.owner);
        _setRescuer(roles.rescuer);
        _setDenylister(roles.denylister);
        _setFeeRecipient(roles.feeRecipient);
        _setLocalMinter(roles.tokenMinter);
        _setMinFeeController(roles.minFeeController);
        _setMinFee(newMinFee);
        for (uint256 index = 0; index < domains.length; index++) {
            _addRemoteTokenMessenger(domains[index], messengers[index]);
        }
    }

    /// @notice Which initialisation was run: 1 once it was, the largest number for an implementation.
    function initializedVersion() external view returns (uint64) {
        return _getInitializedVersion();
    }

    /// @notice Burns `amount` of the caller's tokens, which it approved before, to be minted on another chain.
    /// @param mintRecipient the account there, as a word of 32 bytes
    /// @param destinationCaller the only account that may deliver the message there; 0 admits any
    /// @param maxFee the most of `amount` that may be kept there as a fee; less than `amount`
    /// @param minFinalityThreshold 2000 waits until the burn is final; 1000 asks for an earlier attestation
    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external notDenylistedCallers {
        Deposit memory deposit = Deposit(
            amount, destinationDomain, mintRecipient, burnToken, destinationCaller, maxFee, minFinalityThreshold
        );
        _burnAndSend(deposit, "");
    }

    /// @notice The same, with `hookData` for a program on the other chain. The messenger there does not read it.
    function depositForBurnWithHook(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold,
        bytes calldata hookData
    ) external notDenylistedCallers {
        require(hookData.length > 0, "Hook data is empty");
        Deposit memory deposit = Deposit(
            amount, destinationDomain, mintRecipient, burnToken, destinationCaller, maxFee, minFinalityThreshold
        );
        _burnAndSend(deposit, hookData);
    }

    /// @inheritdoc IMessageHandler
    function handleReceiveFinalizedMessage(uint32 sourceDomain, bytes32 sender, uint32, bytes calldata messageBody)
        external
        onlyPeer(sourceDomain, sender)
        returns (bool)
    {
        return _mint(sourceDomain, messageBody.open());
    }

    /// @inheritdoc IMessageHandler
    function handleReceiveUnfinalizedMessage(
        uint32 sourceDomain,
        bytes32 sender,
        uint32 finalityThresholdExecuted,
        bytes calldata messageBody
    ) external onlyPeer(sourceDomain, sender) returns (bool) {
        require(finalityThresholdExecuted >= LOWEST_THRESHOLD, "Unsupported finality threshold");
        return _mint(sourceDomain, messageBody.open());
    }

    function _burnAndSend(Deposit memory deposit, bytes memory hookData) private {
        _requireAcceptable(deposit);
        bytes32 remoteMessenger = _requireRemoteMessenger(deposit.destinationDomain);
        _burn(deposit.burnToken, deposit.amount);
        IMessageSender(localMessageTransmitter).sendMessage(
            deposit.destinationDomain,
            remoteMessenger,
            deposit.destinationCaller,
            deposit.minFinalityThreshold,
            _bodyOf(deposit, hookData)
        );
        emit DepositForBurn(
            deposit.burnToken,
            deposit.amount,
            msg.sender,
            deposit.mintRecipient,
            deposit.destinationDomain,
            remoteMessenger,
            deposit.destinationCaller,
            deposit.maxFee,
            deposit.minFinalityThreshold,
            hookData
        );
    }

    function _requireAcceptable(Deposit memory deposit) private view {
        require(deposit.amount > 0, "Amount must be nonzero");
        require(deposit.mintRecipient != bytes32(0), "Mint recipient must be nonzero");
        require(deposit.maxFee < deposit.amount, "Max fee must be less than amount");
        require(minFee == 0 || deposit.maxFee >= _minFeeOf(deposit.amount), "Insufficient max fee");
    }

    function _burn(address token, uint256 amount) private {
        ITokenMinter minter = _requireMinter();
        require(
            IMintBurnToken(token).transferFrom(msg.sender, address(minter), amount), "Transfer operation failed"
        );
        minter.burn(token, amount);
    }

    function _bodyOf(Deposit memory deposit, bytes memory hookData) private view returns (bytes memory) {
        return abi.encodePacked(
            messageBodyVersion,
            Words.fromAddress(deposit.burnToken),
            deposit.mintRecipient,
            deposit.amount,
            Words.fromAddress(msg.sender),
            deposit.maxFee,
            uint256(0),
            uint256(0),
            hookData
        );
    }

    function _mint(uint32 sourceDomain, BurnBody.Burn memory burn) private returns (bool) {
        uint256 fee = burn.feeExecuted;
        require(burn.version == messageBodyVersion, "Invalid message body version");
        require(
            burn.expirationBlock == 0 || burn.expirationBlock > block.number,
            "Message expired and must be re-signed"
        );
        require(fee == 0 || fee < burn.amount, "Fee equals or exceeds amount");
        require(fee <= burn.maxFee, "Fee exceeds max fee");

        ITokenMinter minter = _requireMinter();
        address recipient = Words.toAddress(burn.mintRecipient);
        uint256 amount = burn.amount - fee;
        address mintToken = fee == 0
            ? minter.mint(sourceDomain, burn.burnToken, recipient, amount)
            : minter.mint(sourceDomain, burn.burnToken, recipient, feeRecipient, amount, fee);
        emit MintAndWithdraw(recipient, amount, mintToken, fee);
        return true;
    }
}
