// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155Burnable} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Burnable.sol";
import {ERC1155URIStorage} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155URIStorage.sol";
import {Context} from "@openzeppelin/contracts/utils/Context.sol";
import {Royalties} from "./modules/Royalties.sol";
import {TokenTemplate} from "./modules/TokenTemplate.sol";

/// @title ERC1155Template
/// @notice Many tokens in one contract, each with an amount and a metadata URI. Their ids count up from 0.
contract ERC1155Template is ERC1155URIStorage, ERC1155Burnable, TokenTemplate, Royalties {
    string public name;
    string public symbol;

    /// @notice The id of the next new token.
    uint256 public nextTokenIdToMint;

    /// @notice No token has this id yet: mint with the greatest uint256 to create the next one.
    error UnknownTokenId(uint256 tokenId);

    constructor(
        string memory name_,
        string memory symbol_,
        address defaultAdmin,
        address primarySaleRecipient_,
        address platformFeeRecipient,
        uint256 platformFeeBps,
        address royaltyRecipient,
        uint96 royaltyBps,
        string memory contractURI_,
        address[] memory trustedForwarders
    ) ERC1155("") TokenTemplate(trustedForwarders) {
        name = name_;
        symbol = symbol_;
        _grantInitialRoles(defaultAdmin);
        _setPrimarySaleRecipient(primarySaleRecipient_);
        _setPlatformFeeInfo(platformFeeRecipient, platformFeeBps);
        _setDefaultRoyaltyInfo(royaltyRecipient, royaltyBps);
        _setContractURI(contractURI_);
    }

    /// @notice Creates `amount` of a token for `to`, which must accept it when it is a contract.
    /// @param tokenId the id of an existing token, or the greatest uint256 for a new one
    /// @param metadataURI the metadata of a new token; ignored for an existing one
    /// @return mintedId the id of the token
    function mintTo(address to, uint256 tokenId, string calldata metadataURI, uint256 amount)
        external
        onlyRole(MINTER_ROLE)
        returns (uint256 mintedId)
    {
        if (tokenId == type(uint256).max) {
            mintedId = nextTokenIdToMint++;
            _setURI(mintedId, metadataURI);
        } else {
            _requireExisting(tokenId);
            mintedId = tokenId;
        }
        _mint(to, mintedId, amount, "");
    }

    /// @notice Replaces the metadata URI of a token.
    function setTokenURI(uint256 tokenId, string calldata metadataURI) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _requireExisting(tokenId);
        _setURI(tokenId, metadataURI);
    }

    function uri(uint256 tokenId) public view override(ERC1155, ERC1155URIStorage) returns (string memory) {
        return super.uri(tokenId);
    }

    function supportsInterface(bytes4 interfaceId)
        public
        view
        override(ERC1155, AccessControl, Royalties)
        returns (bool)
    {
        return super.supportsInterface(interfaceId);
    }

    function _requireExisting(uint256 tokenId) private view {
        if (tokenId >= nextTokenIdToMint) revert UnknownTokenId(tokenId);
    }

    function _update(address from, address to, uint256[] memory ids, uint256[] memory amounts) internal override {
        _checkTransfer(from, to);
        super._update(from, to, ids, amounts);
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
