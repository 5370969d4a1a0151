// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title ContractSigner
/// @notice A contract account for tests: its key holder signs for it by ERC-1271. Its signature is the key's 65 bytes
/// with one more byte, 0x01, in front, so that one cannot pass for the other.
contract ContractSigner is IERC1271 {
    address private immutable _keyHolder;

    constructor(address keyHolder) {
        _keyHolder = keyHolder;
    }

    /// @inheritdoc IERC1271
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 66 || signature[0] != 0x01) return 0xffffffff;
        // slither-disable-next-line unused-return
        (address recovered, ECDSA.RecoverError problem,) = ECDSA.tryRecover(hash, signature[1:]);
        bool valid = problem == ECDSA.RecoverError.NoError && recovered == _keyHolder;
        return valid ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}
