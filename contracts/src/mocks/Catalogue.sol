// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @notice Values of every kind to read: tuples, arrays of them, nested arrays, and reverts with reasons.
contract Catalogue {
    struct Settings {
        uint64 limit;
        string label;
    }

    struct Item {
        uint256 id;
        address maker;
        bytes4 mark;
        bool sold;
    }

    error ItemMissing(uint256 id, Settings settings);

    event Added(uint256 indexed id, address maker);

    address public owner;
    Settings public settings;
    Item[] private stock;

    constructor(address newOwner, Settings memory given, int8[2] memory marks) {
        require(given.limit > 0, "limit is zero");
        if (given.limit == 13) revert ItemMissing(13, given);
        owner = newOwner;
        settings = given;
        for (uint256 i = 0; i < marks.length; i++)
            stock.push(Item(i, msg.sender, bytes4(uint32(int32(marks[i]))), marks[i] < 0));
    }

    function add(address maker) external returns (uint256 id) {
        id = stock.length;
        stock.push(Item(id, maker, 0, false));
        emit Added(id, maker);
    }

    function item(uint256 id) external view returns (Item memory) {
        if (id >= stock.length) revert ItemMissing(id, settings);
        return stock[id];
    }

    function items() external view returns (Item[] memory list, uint256 count) {
        return (stock, stock.length);
    }

    function rows() external pure returns (int16[2][] memory list) {
        list = new int16[2][](2);
        list[1] = [int16(-7), int16(9)];
    }

    function caller() external view returns (address) {
        return msg.sender;
    }

    function refuse(string calldata reason) external pure returns (uint256) {
        revert(reason);
    }

    function fill(uint256 bytesCount) external pure returns (bytes memory) {
        return new bytes(bytesCount);
    }
}
