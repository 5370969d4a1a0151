// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Burnable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Burnable.sol";
import {ERC721URIStorage} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721URIStorage.sol";
import {Context} from "@openzeppelin/contracts/utils/Context.sol";
import {Royalties} from "./modules/Royalties.sol";
import {TokenTemplate} from "./modules/TokenTemplate.sol";

/// @title ERC721Template
/// @notice Tokens that exist once each, with a metadata URI of their own. Their ids count up from 0.
contract ERC721Template is ERC721URIStorage, ERC721Burnable, TokenTemplate, Royalties {
    /// @notice The id of the next token; those of burned tokens are not used again.
    uint256 public nextTokenIdToMint;

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
    ) ERC721(name_, symbol_) TokenTemplate(trustedForwarders) {
        _grantInitialRoles(defaultAdmin);
        _setPrimarySaleRecipient(primarySaleRecipient_);
        _setPlatformFeeInfo(platformFeeRecipient, platformFeeBps);
        _setDefaultRoyaltyInfo(royaltyRecipient, royaltyBps);
        _setContractURI(contractURI_);
    }

    /// @notice Creates the next token for `to`, which must accept it when it is a contract.
    /// @return tokenId the id of the new token
    function mintTo(address to, string calldata metadataURI)
        external
        onlyRole(MINTER_ROLE)
        returns (uint256 tokenId)
    {
        tokenId = nextTokenIdToMint++;
        _setTokenURI(tokenId, metadataURI);
        _safeMint(to, tokenId);
    }

    /// @notice Replaces the metadata URI of a token.
    function setTokenURI(uint256 tokenId, string calldata metadataURI) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _requireOwned(tokenId);
        _setTokenURI(tokenId, metadataURI);
    }

    function tokenURI(uint256 tokenId) public view override(ERC721, ERC721URIStorage) returns (string memory) {
        return super.tokenURI(tokenId);
    }

    function supportsInterface(bytes4 interfaceId)
        public
        view
        override(ERC721, ERC721URIStorage, AccessControl, Royalties)
        returns (bool)
    {
        return super.supportsInterface(interfaceId);
    }

    function _update(address to, uint256 tokenId, address spender) internal override returns (address) {
        _checkTransfer(_ownerOf(tokenId), to);
        return super._update(to, tokenId, spender);
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
