// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";

import {Attestable} from "./modules/Attestable.sol";
import {IMessageHandler, IMessageSender} from "./modules/Interfaces.sol";
import {Message} from "./modules/Message.sol";
import {Pausable} from "./modules/Pausable.sol";
import {Rescuable} from "./modules/Rescuable.sol";
import {Words} from "./modules/Words.sol";

/// @title MessageTransmitterV2
/// @notice Emits messages to other chains, and delivers those from other chains that its attesters signed: each once.
///
/// Pausable     the pauser stops sending and receiving
/// Rescuable    the rescuer takes out tokens that were sent here by mistake
/// Attestable   the attester manager says whose signatures count, and how many a message needs
/// Message      the bytes of a message
///
/// @dev The implementation cannot be initialised. An operator deploys it, and then an ERC1967Proxy (OpenZeppelin) with the call
/// of `initialize` as its data: proxy and state come into being in one transaction, and no other call can come before. A genesis
/// file places the runtime code with its immutables and the storage beside it instead.
contract MessageTransmitterV2 is IMessageSender, Initializable, Pausable, Rescuable, Attestable {
    using Message for bytes;

    /// @notice The value of a nonce that was used.
    uint256 public constant NONCE_USED = 1;

    /// @dev Messages that were executed at this threshold or above it are final on their chain.
    uint32 private constant FINALIZED = 2000;

    /// @notice The number of this chain in messages.
    uint32 public immutable localDomain;
    /// @notice The version of messages that are sent and received.
    uint32 public immutable version;

    /// @notice The longest body that may be sent, in bytes.
    uint256 public maxMessageBodySize;
    /// @notice 1 for nonces of received messages, and for zero, which a message has before it is attested.
    mapping(bytes32 nonce => uint256) public usedNonces;

    /// @notice A message for another chain, as the attesters read it.
    event MessageSent(bytes message);
    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );
    event MaxMessageBodySizeUpdated(uint256 newMaxMessageBodySize);

    constructor(uint32 localDomain_, uint32 version_) {
        localDomain = localDomain_;
        version = version_;
        _disableInitializers();
    }

    /// @notice Appoints the roles and the attesters, once.
    function initialize(
        address newOwner,
        address newPauser,
        address newRescuer,
        address newAttesterManager,
        address[] calldata newAttesters,
        uint256 newSignatureThreshold,
        uint256 newMaxMessageBodySize
    ) external initializer {
        require(newOwner != address(0), "Owner is the zero address");
        require(newAttesterManager != address(0), "AttesterManager is the zero address");
        require(newSignatureThreshold <= newAttesters.length, "Signature threshold exceeds attesters");
        require(newMaxMessageBodySize > 0, "MaxMessageBodySize is zero");

        _setOwner(newOwner);
        _setRescuer(newRescuer);
        _setPauser(newPauser);
        _setAttesterManager(newAttesterManager);
        _setMaxMessageBodySize(newMaxMessageBodySize);
        for (uint256 index = 0; index < newAttesters.length; index++) _enableAttester(newAttesters[index]);
        _setSignatureThreshold(newSignatureThreshold);
        usedNonces[bytes32(0)] = NONCE_USED;
    }

    /// @notice Which initialisation was run: 1 once it was, the largest number for an implementation.
    function initializedVersion() external view returns (uint64) {
        return _getInitializedVersion();
    }

    /// @notice Sets the longest body that may be sent, in bytes. Longer ones can still be received.
    function setMaxMessageBodySize(uint256 newMaxMessageBodySize) external onlyOwner {
        _setMaxMessageBodySize(newMaxMessageBodySize);
    }

    /// @notice Emits a message from the caller to `recipient` on another chain.
    /// @param destinationCaller the only account that may deliver it there; 0 admits any
    /// @param minFinalityThreshold how final the block has to be before attesters sign: 2000 finalized, 1000 confirmed
    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata messageBody
    ) external whenNotPaused {
        require(destinationDomain != localDomain, "Domain is local domain");
        require(messageBody.length <= maxMessageBodySize, "Message body exceeds max size");
        require(recipient != bytes32(0), "Recipient must be nonzero");
        emit MessageSent(
            abi.encodePacked(
                version,
                localDomain,
                destinationDomain,
                bytes32(0),
                Words.fromAddress(msg.sender),
                recipient,
                destinationCaller,
                minFinalityThreshold,
                uint32(0),
                messageBody
            )
        );
    }

    /// @notice Delivers a message to its recipient on this chain.
    /// @return success Always true; every failure reverts.
    function receiveMessage(bytes calldata message, bytes calldata attestation)
        external
        whenNotPaused
        returns (bool success)
    {
        _requireAttested(message, attestation);
        Message.Envelope memory envelope = message.open();
        require(envelope.destinationDomain == localDomain, "Invalid destination domain");
        require(
            envelope.destinationCaller == bytes32(0)
                || envelope.destinationCaller == Words.fromAddress(msg.sender),
            "Invalid caller for message"
        );
        require(envelope.version == version, "Invalid message version");
        require(usedNonces[envelope.nonce] == 0, "Nonce already used");
        // Before the recipient is called, which may call back.
        usedNonces[envelope.nonce] = NONCE_USED;
        _deliver(envelope, message.bodyOf());
        return true;
    }

    function _deliver(Message.Envelope memory envelope, bytes calldata body) private {
        IMessageHandler recipient = IMessageHandler(Words.toAddress(envelope.recipient));
        uint32 executed = envelope.finalityThresholdExecuted;
        if (executed < FINALIZED) {
            require(
                recipient.handleReceiveUnfinalizedMessage(envelope.sourceDomain, envelope.sender, executed, body),
                "handleReceiveUnfinalizedMessage() failed"
            );
        } else {
            require(
                recipient.handleReceiveFinalizedMessage(envelope.sourceDomain, envelope.sender, executed, body),
                "handleReceiveFinalizedMessage() failed"
            );
        }
        emit MessageReceived(
            msg.sender, envelope.sourceDomain, envelope.nonce, envelope.sender, executed, body
        );
    }

    function _setMaxMessageBodySize(uint256 newMaxMessageBodySize) private {
        maxMessageBodySize = newMaxMessageBodySize;
        emit MaxMessageBodySizeUpdated(newMaxMessageBodySize);
    }
}
