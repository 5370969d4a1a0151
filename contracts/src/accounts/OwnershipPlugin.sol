// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Owner, WeightedOwners} from "./WeightedOwners.sol";

/// @title OwnershipPlugin
/// @notice The contract that the domain of an account's signed messages names. Accounts keep their owners themselves.
contract OwnershipPlugin {
    bytes32 private constant DOMAIN_TYPE_HASH = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)"
    );
    bytes32 private constant NAME_HASH = keccak256("Weighted Multisig Webauthn Plugin");
    bytes32 private constant VERSION_HASH = keccak256("1.0.0");
    bytes32 private constant MESSAGE_TYPE_HASH =
        keccak256("CircleWeightedWebauthnMultisigMessage(bytes32 hash)");

    /// @notice What owners of `account` sign for `hash`: valid for this account on this chain alone.
    function getReplaySafeMessageHash(address account, bytes32 hash) external view returns (bytes32) {
        bytes32 separator = keccak256(
            abi.encode(
                DOMAIN_TYPE_HASH,
                NAME_HASH,
                VERSION_HASH,
                block.chainid,
                address(this),
                bytes32(bytes20(account))
            )
        );
        bytes32 message = keccak256(abi.encode(MESSAGE_TYPE_HASH, hash));
        return keccak256(abi.encodePacked(hex"1901", separator, message));
    }

    /// @notice The owners of `account` and the weight that signatures must reach.
    function ownershipInfoOf(WeightedOwners account)
        external
        view
        returns (bytes30[] memory ids, Owner[] memory owners, uint256 threshold)
    {
        return account.ownership();
    }
}
