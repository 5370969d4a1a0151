// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";
import {Context} from "@openzeppelin/contracts/utils/Context.sol";
import {TokenTemplate} from "./modules/TokenTemplate.sol";

/// @title ERC20Template
/// @notice A fungible token of 18 decimals that minters create and holders burn.
contract ERC20Template is ERC20Burnable, TokenTemplate {
    constructor(
        string memory name_,
        string memory symbol_,
        address defaultAdmin,
        address primarySaleRecipient_,
        address platformFeeRecipient,
        uint256 platformFeeBps,
        string memory contractURI_,
        address[] memory trustedForwarders
    ) ERC20(name_, symbol_) TokenTemplate(trustedForwarders) {
        _grantInitialRoles(defaultAdmin);
        _setPrimarySaleRecipient(primarySaleRecipient_);
        _setPlatformFeeInfo(platformFeeRecipient, platformFeeBps);
        _setContractURI(contractURI_);
    }

    /// @notice Creates `amount` in the account of `to`.
    function mintTo(address to, uint256 amount) external onlyRole(MINTER_ROLE) {
        _mint(to, amount);
    }

    function _update(address from, address to, uint256 amount) internal override {
        _checkTransfer(from, to);
        super._update(from, to, amount);
    }

    function _msgSender() internal view override(Context, TokenTemplate) returns (address) {
        return super._msgSender();
    }

    function _msgData() internal view override(Context, TokenTemplate) returns (bytes calldata) {
        return super._msgData();
    }

    function _contextSuffixLength() internal view override(Context, TokenTemplate) returns (uint256) {
        return super._contextSuffixLength();
    }
}
