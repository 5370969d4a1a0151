// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @notice The functions of Permit2 and of tokens with EIP-2612 that payments need.
interface SignatureTransfer {
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    struct PermitTransferFrom {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }

    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    function permitWitnessTransferFrom(
        PermitTransferFrom calldata permit,
        SignatureTransferDetails calldata transferDetails,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external;
}

interface PermitToken {
    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external;
}

/// @title Permit2Proxy
/// @notice The spender that payers of x402 name when they sign for Permit2: it pays the address that they signed, and no other.
/// @dev Without a constructor: a genesis file may place the runtime code at any address.
abstract contract Permit2Proxy {
    SignatureTransfer public constant PERMIT2 = SignatureTransfer(0x000000000022D473030F116dDEE9F6B43aC78BA3);

    struct EIP2612Permit {
        uint256 value;
        uint256 deadline;
        bytes32 r;
        bytes32 s;
        uint8 v;
    }

    bool private settling;

    event Settled();
    event SettledWithPermit();

    error InvalidAmount();
    error InvalidDestination();
    error InvalidOwner();
    error PaymentTooEarly();
    error Permit2612AmountMismatch();
    error ReentrancyGuardReentrantCall();

    /// @dev A token could call back.
    modifier oneAtATime() {
        if (settling) revert ReentrancyGuardReentrantCall();
        settling = true;
        _;
        settling = false;
    }

    /// @dev The terms that payers signed as the witness: whom to pay, and from when.
    function pay(
        SignatureTransfer.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        address to,
        uint256 validAfter,
        bytes32 witness,
        string memory witnessType,
        bytes calldata signature
    ) internal {
        if (amount == 0) revert InvalidAmount();
        if (owner == address(0)) revert InvalidOwner();
        if (to == address(0)) revert InvalidDestination();
        if (block.timestamp < validAfter) revert PaymentTooEarly();
        PERMIT2.permitWitnessTransferFrom(
            permit,
            SignatureTransfer.SignatureTransferDetails(to, amount),
            owner,
            witness,
            witnessType,
            signature
        );
    }

    /// @dev Lets Permit2 take the amount. A permit that does not work is passed over: it may have been handed in before.
    function approve(
        SignatureTransfer.TokenPermissions calldata permitted,
        address owner,
        EIP2612Permit calldata permit2612
    ) internal {
        if (permit2612.value != permitted.amount) revert Permit2612AmountMismatch();
        try
            PermitToken(permitted.token).permit(
                owner,
                address(PERMIT2),
                permit2612.value,
                permit2612.deadline,
                permit2612.v,
                permit2612.r,
                permit2612.s
            )
        {} catch {}
    }
}
