// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC1155} from "@openzeppelin/contracts/token/ERC1155/IERC1155.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";
import {ContractMetadata} from "./modules/ContractMetadata.sol";

/// @title Airdrop
/// @notice Sends tokens of one contract to many recipients in one transaction: all of them, or none.
/// @dev Each function moves the caller's tokens only, within the approval that the caller gave to this contract. The
/// forms with a token owner exist for callers that know that spelling, and refuse every owner but the caller: another
/// rule would let one account spend the approvals of others.
contract Airdrop is Ownable, ContractMetadata {
    using SafeERC20 for IERC20;

    struct ERC20Content {
        address recipient;
        uint256 amount;
    }

    struct ERC721Content {
        address recipient;
        uint256 tokenId;
    }

    struct ERC1155Content {
        address recipient;
        uint256 tokenId;
        uint256 amount;
    }

    /// @notice The tokens of one account are not another's to send.
    error CallerNotTokenOwner(address caller, address tokenOwner);

    modifier onlyTokenOwner(address tokenOwner) {
        if (_msgSender() != tokenOwner) revert CallerNotTokenOwner(_msgSender(), tokenOwner);
        _;
    }

    constructor(address defaultAdmin, string memory contractURI_) Ownable(defaultAdmin) {
        _setContractURI(contractURI_);
    }

    /// @notice Makes `newOwner` the owner of this contract; of tokens it owns none.
    function setOwner(address newOwner) external {
        transferOwnership(newOwner);
    }

    /// @notice Sets the address of the document that describes the contract.
    function setContractURI(string calldata newContractURI) external onlyOwner {
        _setContractURI(newContractURI);
    }

    /// @notice Sends amounts of an ERC-20 token of the caller.
    function airdropERC20(address tokenAddress, ERC20Content[] calldata contents) external {
        _airdropERC20(tokenAddress, contents);
    }

    /// @notice The same; `tokenOwner` must be the caller.
    function airdropERC20(address tokenAddress, address tokenOwner, ERC20Content[] calldata contents)
        external
        onlyTokenOwner(tokenOwner)
    {
        _airdropERC20(tokenAddress, contents);
    }

    /// @notice Sends ERC-721 tokens of the caller; a recipient that is a contract must accept its token.
    function airdropERC721(address tokenAddress, ERC721Content[] calldata contents) external {
        _airdropERC721(tokenAddress, contents);
    }

    /// @notice The same; `tokenOwner` must be the caller.
    function airdropERC721(address tokenAddress, address tokenOwner, ERC721Content[] calldata contents)
        external
        onlyTokenOwner(tokenOwner)
    {
        _airdropERC721(tokenAddress, contents);
    }

    /// @notice Sends amounts of ERC-1155 tokens of the caller; a recipient that is a contract must accept them.
    function airdropERC1155(address tokenAddress, ERC1155Content[] calldata contents) external {
        _airdropERC1155(tokenAddress, contents);
    }

    /// @notice The same; `tokenOwner` must be the caller.
    function airdropERC1155(address tokenAddress, address tokenOwner, ERC1155Content[] calldata contents)
        external
        onlyTokenOwner(tokenOwner)
    {
        _airdropERC1155(tokenAddress, contents);
    }

    function _airdropERC20(address tokenAddress, ERC20Content[] calldata contents) private {
        for (uint256 i = 0; i < contents.length; ++i) {
            IERC20(tokenAddress).safeTransferFrom(_msgSender(), contents[i].recipient, contents[i].amount);
        }
    }

    function _airdropERC721(address tokenAddress, ERC721Content[] calldata contents) private {
        for (uint256 i = 0; i < contents.length; ++i) {
            IERC721(tokenAddress).safeTransferFrom(_msgSender(), contents[i].recipient, contents[i].tokenId);
        }
    }

    function _airdropERC1155(address tokenAddress, ERC1155Content[] calldata contents) private {
        for (uint256 i = 0; i < contents.length; ++i) {
            IERC1155(tokenAddress).safeTransferFrom(
                _msgSender(), contents[i].recipient, contents[i].tokenId, contents[i].amount, ""
            );
        }
    }
}
