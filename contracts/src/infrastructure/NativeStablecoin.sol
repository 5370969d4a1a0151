// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Stablecoin} from "../Stablecoin.sol";
import {NativeTransferLog} from "./NativeTransferLog.sol";

/// @title NativeStablecoin
/// @notice The stablecoin of a chain whose native coin it is: balances are native coins, of which the token has 6 decimals
/// and the chain 18. What is below the smallest unit of the token shows in no balance of it, and stays where it is.
/// @dev Moves native coins by a precompiled contract of the local node. Coins are created out of a reserve and destroyed
/// into it; the genesis file fills it, at the address that the public chain has for this purpose. The storage is that of
/// the stablecoin.
contract NativeStablecoin is Stablecoin {
    /// @dev Native units in the smallest unit of the token.
    uint256 private constant UNIT = 10 ** 12;
    /// @dev Moves coins when called with a sender, a receiver and an amount.
    address private constant MOVER = 0x00000000000000000000000000000000000000fd;
    address private constant RESERVE = 0x1800000000000000000000000000000000000000;
    NativeTransferLog private constant LOG = NativeTransferLog(0xffffFFFfFFffffffffffffffFfFFFfffFFFfFFfE);

    /// @notice What `account` owns, rounded down to the smallest unit of the token.
    function balanceOf(address account) public view override returns (uint256) {
        return account.balance / UNIT;
    }

    function _moveBalance(address from, address to, uint256 value) internal override {
        // As on the public chain, what moves nothing leaves no log of the native coin.
        if (from == to || value == 0) return;
        uint256 amount = value * UNIT;
        address source = from == address(0) ? RESERVE : from;
        address target = to == address(0) ? RESERVE : to;
        (bool moved, ) = MOVER.call(abi.encode(source, target, amount));
        require(moved, "NativeStablecoin: the node moves no coins");
        LOG.record(from, to, amount);
    }
}
