// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ITokenMinter} from "./Interfaces.sol";
import {TwoStepOwnable} from "./TwoStepOwnable.sol";

/// @title MessengerConfiguration
/// @notice What the owner of a token messenger decides: the messengers of other chains, the minter, and the fees.
abstract contract MessengerConfiguration is TwoStepOwnable {
    /// @notice The minimum fee is a number of these parts of the amount: a thousandth of a basis point.
    uint256 public constant MIN_FEE_MULTIPLIER = 10_000_000;

    /// @notice The minter of this chain.
    ITokenMinter public localMinter;
    /// @notice The token messengers of other chains, by domain; only their burns are believed.
    mapping(uint32 domain => bytes32) public remoteTokenMessengers;
    /// @notice The account that fees are minted to.
    address public feeRecipient;
    /// @notice The account that sets the minimum fee.
    address public minFeeController;
    /// @notice The minimum of `maxFee` of a burn, in parts of MIN_FEE_MULTIPLIER; 0 when there is none.
    uint256 public minFee;

    event RemoteTokenMessengerAdded(uint32 domain, bytes32 tokenMessenger);
    event RemoteTokenMessengerRemoved(uint32 domain, bytes32 tokenMessenger);
    event LocalMinterAdded(address localMinter);
    event LocalMinterRemoved(address localMinter);
    event FeeRecipientSet(address feeRecipient);
    event MinFeeControllerSet(address minFeeController);
    event MinFeeSet(uint256 minFee);

    /// @notice The smallest `maxFee` of a burn of `amount`, both in the smallest units of the token.
    function getMinFeeAmount(uint256 amount) external view returns (uint256) {
        if (minFee == 0) return 0;
        require(amount > 1, "Amount too low");
        return _minFeeOf(amount);
    }

    /// @notice Adds the token messenger of another chain, where there is none.
    function addRemoteTokenMessenger(uint32 domain, bytes32 tokenMessenger) external onlyOwner {
        _addRemoteTokenMessenger(domain, tokenMessenger);
    }

    /// @notice Removes it: nothing is burned for that chain or minted from it any more.
    function removeRemoteTokenMessenger(uint32 domain) external onlyOwner {
        bytes32 removed = remoteTokenMessengers[domain];
        require(removed != bytes32(0), "No TokenMessenger set");
        delete remoteTokenMessengers[domain];
        emit RemoteTokenMessengerRemoved(domain, removed);
    }

    /// @notice Sets the minter, where there is none.
    function addLocalMinter(address newLocalMinter) external onlyOwner {
        _setLocalMinter(newLocalMinter);
    }

    /// @notice Removes the minter: nothing is burned or minted any more.
    function removeLocalMinter() external onlyOwner {
        address removed = address(localMinter);
        require(removed != address(0), "No local minter is set.");
        delete localMinter;
        emit LocalMinterRemoved(removed);
    }

    /// @notice Sets the account that fees are minted to.
    function setFeeRecipient(address newFeeRecipient) external onlyOwner {
        _setFeeRecipient(newFeeRecipient);
    }

    /// @notice Appoints the account that sets the minimum fee.
    function setMinFeeController(address newMinFeeController) external onlyOwner {
        _setMinFeeController(newMinFeeController);
    }

    /// @notice Sets the minimum fee, in parts of MIN_FEE_MULTIPLIER.
    function setMinFee(uint256 newMinFee) external {
        require(msg.sender == minFeeController, "Caller is not the min fee controller");
        _setMinFee(newMinFee);
    }

    function _addRemoteTokenMessenger(uint32 domain, bytes32 tokenMessenger) internal {
        require(tokenMessenger != bytes32(0), "bytes32(0) not allowed");
        require(remoteTokenMessengers[domain] == bytes32(0), "TokenMessenger already set");
        remoteTokenMessengers[domain] = tokenMessenger;
        emit RemoteTokenMessengerAdded(domain, tokenMessenger);
    }

    function _setLocalMinter(address newLocalMinter) internal {
        require(newLocalMinter != address(0), "Zero address not allowed");
        require(address(localMinter) == address(0), "Local minter is already set.");
        localMinter = ITokenMinter(newLocalMinter);
        emit LocalMinterAdded(newLocalMinter);
    }

    function _setFeeRecipient(address newFeeRecipient) internal {
        require(newFeeRecipient != address(0), "Zero address not allowed");
        feeRecipient = newFeeRecipient;
        emit FeeRecipientSet(newFeeRecipient);
    }

    function _setMinFeeController(address newMinFeeController) internal {
        require(newMinFeeController != address(0), "Zero address not allowed");
        minFeeController = newMinFeeController;
        emit MinFeeControllerSet(newMinFeeController);
    }

    function _setMinFee(uint256 newMinFee) internal {
        require(newMinFee < MIN_FEE_MULTIPLIER, "Min fee too high");
        minFee = newMinFee;
        emit MinFeeSet(newMinFee);
    }

    /// @dev At least one unit, so that no amount is too small to pay.
    function _minFeeOf(uint256 amount) internal view returns (uint256) {
        uint256 fee = amount * minFee / MIN_FEE_MULTIPLIER;
        return fee == 0 ? 1 : fee;
    }

    function _requireMinter() internal view returns (ITokenMinter minter) {
        minter = localMinter;
        require(address(minter) != address(0), "Local minter is not set");
    }

    function _requireRemoteMessenger(uint32 domain) internal view returns (bytes32 messenger) {
        messenger = remoteTokenMessengers[domain];
        require(messenger != bytes32(0), "No TokenMessenger for domain");
    }
}
