// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title Words
/// @notice Reads numbers and words of 32 bytes out of packed bytes, and writes addresses as words.
/// @dev A caller checks the length first: reading behind the end reverts without a reason.
library Words {
    function uint32At(bytes calldata data, uint256 offset) internal pure returns (uint32) {
        return uint32(bytes4(data[offset:offset + 4]));
    }

    function wordAt(bytes calldata data, uint256 offset) internal pure returns (bytes32) {
        return bytes32(data[offset:offset + 32]);
    }

    function uintAt(bytes calldata data, uint256 offset) internal pure returns (uint256) {
        return uint256(wordAt(data, offset));
    }

    /// @notice An address behind twelve zero bytes.
    function fromAddress(address account) internal pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }

    /// @notice The last 20 bytes. The deployed contracts ignore the others too; clients refuse words in which they are set.
    function toAddress(bytes32 word) internal pure returns (address) {
        return address(uint160(uint256(word)));
    }
}
