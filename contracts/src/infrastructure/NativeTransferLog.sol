// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title NativeTransferLog
/// @notice Writes the logs of EIP-7708 for transfers of the native coin, where the node itself writes none.
/// @dev Stands at the address from which these logs come. There is no storage: a genesis file may place the runtime code.
contract NativeTransferLog {
    /// @dev The token whose amounts are native coins.
    address private constant TOKEN = 0x3600000000000000000000000000000000000000;

    event Transfer(address indexed from, address indexed to, uint256 amount);

    /// @notice Writes the log of a transfer that the caller has made; only the token may.
    function record(address from, address to, uint256 amount) external {
        require(msg.sender == TOKEN, "NativeTransferLog: caller is not the token");
        emit Transfer(from, to, amount);
    }
}
