// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IMintBurnToken, ITokenMinter} from "./modules/Interfaces.sol";
import {Pausable} from "./modules/Pausable.sol";
import {Rescuable} from "./modules/Rescuable.sol";
import {TokenController} from "./modules/TokenController.sol";

/// @title TokenMinterV2
/// @notice Burns and mints tokens for the token messenger, which is the only caller that it serves. It has to be a minter of
/// each token.
/// @dev It stands without a proxy; its creator is its owner. A genesis file places code and storage instead.
contract TokenMinterV2 is ITokenMinter, TokenController, Pausable, Rescuable {
    /// @notice The token messenger; zero until the owner adds it.
    address public localTokenMessenger;

    event LocalTokenMessengerAdded(address localTokenMessenger);
    event LocalTokenMessengerRemoved(address localTokenMessenger);

    modifier onlyLocalTokenMessenger() {
        address messenger = localTokenMessenger;
        require(messenger != address(0) && msg.sender == messenger, "Caller not local TokenMessenger");
        _;
    }

    constructor(address tokenController_) {
        _setOwner(msg.sender);
        _setTokenController(tokenController_);
    }

    /// @notice Burns what the messenger transferred here before.
    function burn(address burnToken, uint256 burnAmount) external whenNotPaused onlyLocalTokenMessenger {
        _requireWithinLimit(burnToken, burnAmount);
        IMintBurnToken(burnToken).burn(burnAmount);
    }

    /// @notice Mints to `to` the token that `burnToken` of `sourceDomain` becomes here.
    /// @return mintToken That token.
    function mint(uint32 sourceDomain, bytes32 burnToken, address to, uint256 amount)
        external
        whenNotPaused
        onlyLocalTokenMessenger
        returns (address mintToken)
    {
        mintToken = _mintTokenOf(sourceDomain, burnToken);
        require(IMintBurnToken(mintToken).mint(to, amount), "Mint operation failed");
    }

    /// @notice Mints it to two recipients.
    /// @return mintToken That token.
    function mint(
        uint32 sourceDomain,
        bytes32 burnToken,
        address recipientOne,
        address recipientTwo,
        uint256 amountOne,
        uint256 amountTwo
    ) external whenNotPaused onlyLocalTokenMessenger returns (address mintToken) {
        mintToken = _mintTokenOf(sourceDomain, burnToken);
        require(IMintBurnToken(mintToken).mint(recipientOne, amountOne), "First mint operation failed");
        require(IMintBurnToken(mintToken).mint(recipientTwo, amountTwo), "Second mint operation failed");
    }

    /// @notice Sets the token messenger, where there is none.
    function addLocalTokenMessenger(address newLocalTokenMessenger) external onlyOwner {
        require(newLocalTokenMessenger != address(0), "Invalid TokenMessenger address");
        require(localTokenMessenger == address(0), "Local TokenMessenger already set");
        localTokenMessenger = newLocalTokenMessenger;
        emit LocalTokenMessengerAdded(newLocalTokenMessenger);
    }

    /// @notice Removes it.
    function removeLocalTokenMessenger() external onlyOwner {
        address removed = localTokenMessenger;
        require(removed != address(0), "No local TokenMessenger is set");
        localTokenMessenger = address(0);
        emit LocalTokenMessengerRemoved(removed);
    }

    /// @notice Appoints the token controller.
    function setTokenController(address newTokenController) external onlyOwner {
        _setTokenController(newTokenController);
    }

    function _mintTokenOf(uint32 sourceDomain, bytes32 burnToken) private view returns (address mintToken) {
        mintToken = _localTokenOf(sourceDomain, burnToken);
        require(mintToken != address(0), "Mint token not supported");
    }
}
