// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Permit2Proxy, SignatureTransfer} from "./parts/Permit2Proxy.sol";

/// @title ExactPermit2Proxy
/// @notice Payments of the scheme exact by Permit2: the whole amount that the payer signed.
/// @dev Has the interface of the contract that x402 names for it on public chains.
contract ExactPermit2Proxy is Permit2Proxy {
    struct Witness {
        address to;
        uint256 validAfter;
    }

    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)";
    bytes32 public constant WITNESS_TYPEHASH = keccak256("Witness(address to,uint256 validAfter)");

    /// @notice Pays what `owner` signed; Permit2 must be approved by it.
    function settle(
        SignatureTransfer.PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external oneAtATime {
        paySigned(permit, owner, witness, signature);
        emit Settled();
    }

    /// @notice Hands in the approval of Permit2 that `owner` signed for the token, and pays.
    function settleWithPermit(
        EIP2612Permit calldata permit2612,
        SignatureTransfer.PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external oneAtATime {
        approve(permit.permitted, owner, permit2612);
        paySigned(permit, owner, witness, signature);
        emit SettledWithPermit();
    }

    function paySigned(
        SignatureTransfer.PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) private {
        bytes32 hash = keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.validAfter));
        pay(
            permit,
            permit.permitted.amount,
            owner,
            witness.to,
            witness.validAfter,
            hash,
            WITNESS_TYPE_STRING,
            signature
        );
    }
}
