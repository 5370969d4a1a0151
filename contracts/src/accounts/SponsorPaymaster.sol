// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {PaymasterSigner} from "@openzeppelin/contracts/account/paymaster/extensions/PaymasterSigner.sol";
import {IEntryPoint, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

/// @title SponsorPaymaster
/// @notice Pays for the user operations that its sponsor signed, from the sponsor's own deposit, in bundles of the sponsor alone.
/// @dev The signature covers every field of the operation that its price depends on; no field is left for the sender of the
/// operation to raise it. The EntryPoint pays the beneficiary of a bundle for gas that nothing used, such as an excess of
/// `preVerificationGas` or unused gas of a call: the sponsor bundles, so that all of it returns to the sponsor.
contract SponsorPaymaster is PaymasterSigner {
    IEntryPoint private immutable paymasterEntryPoint;
    address public immutable sponsor;
    /// @dev Whether the EntryPoint executes a bundle of the sponsor now. It cannot be entered a second time meanwhile.
    bool private transient isBundling;

    /// @dev The operation is in a bundle that another sender gave to the EntryPoint.
    error NotBundledBySponsor();

    constructor(IEntryPoint entryPoint_, address sponsor_) EIP712("Bezant Sponsor", "1") {
        paymasterEntryPoint = entryPoint_;
        sponsor = sponsor_;
    }

    function entryPoint() public view override returns (IEntryPoint) {
        return paymasterEntryPoint;
    }

    /// @notice Has the EntryPoint execute a bundle of operations; reverts with its reason.
    /// @dev It has the name and the parameters of the function of the EntryPoint, to which it passes its input.
    function handleOps(PackedUserOperation[] calldata, address payable) external {
        if (msg.sender != sponsor) revert PaymasterUnauthorized(msg.sender);
        isBundling = true;
        (bool success, bytes memory result) = address(paymasterEntryPoint).call(msg.data);
        isBundling = false;
        Address.verifyCallResult(success, result);
    }

    /// @notice Adds the coins of the call to the deposit at the EntryPoint.
    function deposit() external payable {
        _deposit(msg.value);
    }

    /// @notice Takes coins out of the deposit.
    function withdraw(address payable to, uint256 amount) external {
        if (msg.sender != sponsor) revert PaymasterUnauthorized(msg.sender);
        _withdraw(to, amount);
    }

    function _validatePaymasterUserOp(PackedUserOperation calldata operation, bytes32 hash, uint256 costMax)
        internal
        override
        returns (bytes memory, uint256)
    {
        if (!isBundling) revert NotBundledBySponsor();
        return super._validatePaymasterUserOp(operation, hash, costMax);
    }

    function _rawSignatureValidation(bytes32 hash, bytes calldata signature)
        internal
        view
        override
        returns (bool)
    {
        (address signer, ECDSA.RecoverError problem,) = ECDSA.tryRecover(hash, signature);
        return problem == ECDSA.RecoverError.NoError && signer == sponsor;
    }
}
