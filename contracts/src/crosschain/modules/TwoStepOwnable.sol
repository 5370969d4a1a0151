// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title TwoStepOwnable
/// @notice One account, the owner, appoints the other roles. Its office moves when the next owner accepts it.
/// @dev The library's contract of this kind has other reasons of reverts than those that clients know, and takes the first owner
/// in its constructor, which a contract behind a proxy does not run.
abstract contract TwoStepOwnable {
    address private _owner;
    address private _pendingOwner;

    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

    modifier onlyOwner() {
        require(msg.sender == _owner, "Ownable: caller is not the owner");
        _;
    }

    /// @notice The account that appoints the other roles.
    function owner() external view returns (address) {
        return _owner;
    }

    /// @notice The account that may accept the office; zero when none was offered it.
    function pendingOwner() external view returns (address) {
        return _pendingOwner;
    }

    /// @notice Offers the office to `newOwner`, in place of an earlier offer; zero withdraws that.
    function transferOwnership(address newOwner) external onlyOwner {
        _pendingOwner = newOwner;
        emit OwnershipTransferStarted(_owner, newOwner);
    }

    /// @notice Takes the office that the owner offered.
    function acceptOwnership() external {
        require(msg.sender == _pendingOwner, "Ownable2Step: caller is not the new owner");
        _setOwner(msg.sender);
    }

    function _setOwner(address newOwner) internal {
        emit OwnershipTransferred(_owner, newOwner);
        _owner = newOwner;
        _pendingOwner = address(0);
    }
}
