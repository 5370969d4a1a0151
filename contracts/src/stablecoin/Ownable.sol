// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title Ownable
/// @notice One account, the owner, appoints the other roles and can hand its office on.
abstract contract Ownable {
    address private _owner;

    /// @dev Neither argument is indexed: log decoders of deployed fiat tokens expect both in the data.
    event OwnershipTransferred(address previousOwner, address newOwner);

    modifier onlyOwner() {
        require(msg.sender == _owner, "Ownable: caller is not the owner");
        _;
    }

    /// @notice The account that appoints the other roles.
    function owner() external view returns (address) {
        return _owner;
    }

    /// @notice Hands the office of owner to `newOwner`, at once and without its consent.
    function transferOwnership(address newOwner) external onlyOwner {
        require(newOwner != address(0), "Ownable: new owner is the zero address");
        _setOwner(newOwner);
    }

    function _setOwner(address newOwner) internal {
        emit OwnershipTransferred(_owner, newOwner);
        _owner = newOwner;
    }
}
