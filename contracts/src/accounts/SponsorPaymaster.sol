// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {PaymasterSigner} from "@openzeppelin/contracts/account/paymaster/extensions/PaymasterSigner.sol";
import {IEntryPoint} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

/// @title SponsorPaymaster
/// @notice Pays for the user operations that its sponsor signed, from the sponsor's own deposit.
/// @dev The signature covers every field of the operation that its price depends on; no field is left for the sender of the
/// operation to raise it.
contract SponsorPaymaster is PaymasterSigner {
    IEntryPoint private immutable paymasterEntryPoint;
    address public immutable sponsor;

    constructor(IEntryPoint entryPoint_, address sponsor_) EIP712("Bezant Sponsor", "1") {
        paymasterEntryPoint = entryPoint_;
        sponsor = sponsor_;
    }

    function entryPoint() public view override returns (IEntryPoint) {
        return paymasterEntryPoint;
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
