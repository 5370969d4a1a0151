// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Transfer, TransferBytes} from "./TransferBytes.sol";

/// @title BurnIntentHash
/// @notice EIP-712 hashes of burn intents.
///
/// BurnIntentSet   BurnIntent[] intents
/// BurnIntent      uint256 maxBlockHeight, uint256 maxFee, TransferSpec spec
/// TransferSpec    the fields of its bytes in their order, without magic and length; hookData is `bytes`
library BurnIntentHash {
    bytes32 private constant _SPEC_TYPEHASH = keccak256(
        "TransferSpec(uint32 version,uint32 sourceDomain,uint32 destinationDomain,bytes32 sourceContract,bytes32 destinationContract,bytes32 sourceToken,bytes32 destinationToken,bytes32 sourceDepositor,bytes32 destinationRecipient,bytes32 sourceSigner,bytes32 destinationCaller,uint256 value,bytes32 salt,bytes hookData)"
    );
    bytes32 private constant _INTENT_TYPEHASH = keccak256(
        "BurnIntent(uint256 maxBlockHeight,uint256 maxFee,TransferSpec spec)TransferSpec(uint32 version,uint32 sourceDomain,uint32 destinationDomain,bytes32 sourceContract,bytes32 destinationContract,bytes32 sourceToken,bytes32 destinationToken,bytes32 sourceDepositor,bytes32 destinationRecipient,bytes32 sourceSigner,bytes32 destinationCaller,uint256 value,bytes32 salt,bytes hookData)"
    );
    bytes32 private constant _SET_TYPEHASH = keccak256(
        "BurnIntentSet(BurnIntent[] intents)BurnIntent(uint256 maxBlockHeight,uint256 maxFee,TransferSpec spec)TransferSpec(uint32 version,uint32 sourceDomain,uint32 destinationDomain,bytes32 sourceContract,bytes32 destinationContract,bytes32 sourceToken,bytes32 destinationToken,bytes32 sourceDepositor,bytes32 destinationRecipient,bytes32 sourceSigner,bytes32 destinationCaller,uint256 value,bytes32 salt,bytes hookData)"
    );

    /// @notice The struct hash of a set, or of the only intent.
    function hashOf(Transfer[] memory intents, bool isSet) internal pure returns (bytes32) {
        if (!isSet) return _hashOfOne(intents[0]);
        bytes32[] memory hashes = new bytes32[](intents.length);
        for (uint256 i = 0; i < intents.length; ++i) {
            hashes[i] = _hashOfOne(intents[i]);
        }
        return keccak256(abi.encode(_SET_TYPEHASH, keccak256(abi.encodePacked(hashes))));
    }

    function _hashOfOne(Transfer memory intent) private pure returns (bytes32) {
        bytes32 spec = keccak256(abi.encode(_SPEC_TYPEHASH, intent.spec));
        return keccak256(abi.encode(_INTENT_TYPEHASH, intent.maxBlockHeight, intent.maxFee, spec));
    }
}
