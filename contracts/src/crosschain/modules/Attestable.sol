// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";

import {TwoStepOwnable} from "./TwoStepOwnable.sol";

/// @title Attestable
/// @notice Attesters vouch for messages by signatures; the attester manager says who they are and how many have to sign.
///
/// An attestation is exactly `signatureThreshold` signatures, one after the other, ordered by the address of the attester,
/// ascending. Each is 65 bytes:
///
///   field  offset  bytes
///   r           0     32
///   s          32     32  in the lower half of the order
///   v          64      1  27 or 28
///
/// @dev The digest is the hash of the message as it is, without a prefix. The message names its source and destination, and both
/// have one transmitter: no other contract accepts a signature of it.
abstract contract Attestable is TwoStepOwnable {
    using EnumerableSet for EnumerableSet.AddressSet;

    uint256 private constant SIGNATURE_BYTES = 65;

    uint256 private _signatureThreshold;
    EnumerableSet.AddressSet private _attesters;
    address private _attesterManager;

    event AttesterEnabled(address indexed attester);
    event AttesterDisabled(address indexed attester);
    event SignatureThresholdUpdated(uint256 oldSignatureThreshold, uint256 newSignatureThreshold);
    event AttesterManagerUpdated(address indexed previousAttesterManager, address indexed newAttesterManager);

    modifier onlyAttesterManager() {
        require(msg.sender == _attesterManager, "Caller not attester manager");
        _;
    }

    /// @notice The account that enables and disables attesters.
    function attesterManager() external view returns (address) {
        return _attesterManager;
    }

    /// @notice How many attesters have to sign a message.
    function signatureThreshold() external view returns (uint256) {
        return _signatureThreshold;
    }

    /// @notice Whether signatures of `attester` count.
    function isEnabledAttester(address attester) external view returns (bool) {
        return _attesters.contains(attester);
    }

    /// @notice How many attesters there are.
    function getNumEnabledAttesters() external view returns (uint256) {
        return _attesters.length();
    }

    /// @notice One of them, in no order; reverts for an `index` at or over their number.
    function getEnabledAttester(uint256 index) external view returns (address) {
        return _attesters.at(index);
    }

    /// @notice Appoints the attester manager.
    function updateAttesterManager(address newAttesterManager) external onlyOwner {
        _setAttesterManager(newAttesterManager);
    }

    /// @notice Lets signatures of `newAttester` count.
    function enableAttester(address newAttester) external onlyAttesterManager {
        _enableAttester(newAttester);
    }

    /// @notice Ends that, for messages that were signed already too. As many attesters as have to sign must remain.
    function disableAttester(address attester) external onlyAttesterManager {
        uint256 count = _attesters.length();
        require(count > 1, "Too few enabled attesters");
        require(count > _signatureThreshold, "Signature threshold is too low");
        require(_attesters.remove(attester), "Attester already disabled");
        emit AttesterDisabled(attester);
    }

    /// @notice Sets how many attesters have to sign.
    function setSignatureThreshold(uint256 newSignatureThreshold) external onlyAttesterManager {
        _setSignatureThreshold(newSignatureThreshold);
    }

    function _setAttesterManager(address newAttesterManager) internal {
        require(newAttesterManager != address(0), "Invalid attester manager address");
        emit AttesterManagerUpdated(_attesterManager, newAttesterManager);
        _attesterManager = newAttesterManager;
    }

    function _enableAttester(address newAttester) internal {
        require(newAttester != address(0), "New attester must be nonzero");
        require(_attesters.add(newAttester), "Attester already enabled");
        emit AttesterEnabled(newAttester);
    }

    function _setSignatureThreshold(uint256 newSignatureThreshold) internal {
        uint256 current = _signatureThreshold;
        require(newSignatureThreshold != 0, "Invalid signature threshold");
        require(newSignatureThreshold <= _attesters.length(), "New signature threshold too high");
        require(newSignatureThreshold != current, "Signature threshold already set");
        _signatureThreshold = newSignatureThreshold;
        emit SignatureThresholdUpdated(current, newSignatureThreshold);
    }

    /// @dev Ascending addresses are distinct, and none is the zero address.
    function _requireAttested(bytes calldata message, bytes calldata attestation) internal view {
        uint256 end = _signatureThreshold * SIGNATURE_BYTES;
        require(attestation.length == end, "Invalid attestation length");
        bytes32 digest = keccak256(message);
        address previous = address(0);
        for (uint256 start = 0; start < end; start += SIGNATURE_BYTES) {
            address signer = _signerOf(digest, attestation[start:start + SIGNATURE_BYTES]);
            require(signer > previous, "Invalid signature order or dupe");
            require(_attesters.contains(signer), "Invalid signature: not attester");
            previous = signer;
        }
    }

    /// @dev The reasons are those that clients of the deployed contracts know.
    function _signerOf(bytes32 digest, bytes calldata signature) private pure returns (address) {
        // slither-disable-next-line unused-return
        (address signer, ECDSA.RecoverError problem,) = ECDSA.tryRecover(digest, signature);
        require(problem != ECDSA.RecoverError.InvalidSignatureS, "ECDSA: invalid signature 's' value");
        uint8 v = uint8(signature[SIGNATURE_BYTES - 1]);
        require(v == 27 || v == 28, "ECDSA: invalid signature 'v' value");
        require(problem == ECDSA.RecoverError.NoError, "ECDSA: invalid signature");
        return signer;
    }
}
