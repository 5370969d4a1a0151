// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

import {Balances} from "./Balances.sol";

/// @title TypedData
/// @notice The EIP-712 domain of the token and the check of signatures in it, by keys and by contracts (ERC-1271).
/// @dev The separator is computed at each use: the same code serves every chain and every address, and keeps
/// its signatures apart on a chain that forks off with a new id. The usual bases keep it in immutables.
abstract contract TypedData is Balances {
    bytes32 private constant _DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    string private constant _VERSION = "2";

    /// @notice The version in the EIP-712 domain.
    function version() external pure returns (string memory) {
        return _VERSION;
    }

    /// @notice The EIP-712 domain separator of this token on this chain.
    // solhint-disable-next-line func-name-mixedcase
    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                _DOMAIN_TYPEHASH, keccak256(bytes(name())), keccak256(bytes(_VERSION)), block.chainid, address(this)
            )
        );
    }

    /// @dev An account with code decides itself by ERC-1271; its 65 bytes are never tried as a key's signature.
    function _isSigned(address signer, bytes32 structHash, bytes memory signature) internal view returns (bool) {
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), structHash));
        if (signer.code.length == 0) {
            // slither-disable-next-line unused-return
            (address recovered, ECDSA.RecoverError problem,) = ECDSA.tryRecover(digest, signature);
            return problem == ECDSA.RecoverError.NoError && recovered == signer;
        }
        (bool success, bytes memory answer) =
            signer.staticcall(abi.encodeCall(IERC1271.isValidSignature, (digest, signature)));
        return success && answer.length >= 32
            && abi.decode(answer, (bytes32)) == bytes32(IERC1271.isValidSignature.selector);
    }
}
