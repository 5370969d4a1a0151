// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Permit2Proxy, SignatureTransfer} from "./parts/Permit2Proxy.sol";

/// @title UptoPermit2Proxy
/// @notice Payments of the scheme upto: the facilitator that the payer signed for chooses the amount, up to the one signed.
/// @dev Has the interface of the contract that x402 names for it on public chains.
contract UptoPermit2Proxy is Permit2Proxy {
    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)";
    bytes32 public constant WITNESS_TYPEHASH =
        keccak256("Witness(address to,address facilitator,uint256 validAfter)");

    error AmountExceedsPermitted();
    error UnauthorizedFacilitator();

    /// @notice Pays a part of what `owner` signed, or all of it; Permit2 must be approved by it.
    function settle(
        SignatureTransfer.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external oneAtATime {
        payPart(permit, amount, owner, witness, signature);
        emit Settled();
    }

    /// @notice Hands in the approval of Permit2 that `owner` signed for the token, and pays.
    function settleWithPermit(
        EIP2612Permit calldata permit2612,
        SignatureTransfer.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external oneAtATime {
        approve(permit.permitted, owner, permit2612);
        payPart(permit, amount, owner, witness, signature);
        emit SettledWithPermit();
    }

    function payPart(
        SignatureTransfer.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) private {
        if (msg.sender != witness.facilitator) revert UnauthorizedFacilitator();
        if (amount > permit.permitted.amount) revert AmountExceedsPermitted();
        bytes32 hash = keccak256(
            abi.encode(WITNESS_TYPEHASH, witness.to, witness.facilitator, witness.validAfter)
        );
        pay(permit, amount, owner, witness.to, witness.validAfter, hash, WITNESS_TYPE_STRING, signature);
    }
}
