// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC2981} from "@openzeppelin/contracts/token/common/ERC2981.sol";
import {TokenRoles} from "./TokenRoles.sol";

/// @title Royalties
/// @notice ERC-2981: tells marketplaces the share of each sale that they owe, for all tokens or for one.
abstract contract Royalties is ERC2981, TokenRoles {
    event DefaultRoyalty(address indexed newRoyaltyRecipient, uint256 newRoyaltyBps);
    event RoyaltyForToken(uint256 indexed tokenId, address indexed royaltyRecipient, uint256 royaltyBps);

    /// @notice Sets the royalty of all tokens that have none of their own, in basis points.
    function setDefaultRoyaltyInfo(address recipient, uint96 basisPoints) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _setDefaultRoyaltyInfo(recipient, basisPoints);
    }

    /// @notice Sets the royalty of one token, in basis points.
    function setRoyaltyInfoForToken(uint256 tokenId, address recipient, uint96 basisPoints)
        external
        onlyRole(DEFAULT_ADMIN_ROLE)
    {
        _setTokenRoyalty(tokenId, recipient, basisPoints);
        emit RoyaltyForToken(tokenId, recipient, basisPoints);
    }

    function supportsInterface(bytes4 interfaceId)
        public
        view
        virtual
        override(AccessControl, ERC2981)
        returns (bool)
    {
        return super.supportsInterface(interfaceId);
    }

    function _setDefaultRoyaltyInfo(address recipient, uint96 basisPoints) internal {
        _setDefaultRoyalty(recipient, basisPoints);
        emit DefaultRoyalty(recipient, basisPoints);
    }
}
