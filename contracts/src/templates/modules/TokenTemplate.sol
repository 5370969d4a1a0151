// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC2771Context} from "@openzeppelin/contracts/metatx/ERC2771Context.sol";
import {Context} from "@openzeppelin/contracts/utils/Context.sol";
import {ContractMetadata} from "./ContractMetadata.sol";
import {SaleTerms} from "./SaleTerms.sol";
import {TrustedForwarders} from "./TrustedForwarders.sol";

/// @title TokenTemplate
/// @notice The part that the templates of tokens share: roles, terms of sale, contract metadata, trusted forwarders.
abstract contract TokenTemplate is SaleTerms, ContractMetadata, TrustedForwarders {
    constructor(address[] memory trustedForwarders) TrustedForwarders(trustedForwarders) {}

    /// @notice Sets the address of the document that describes the contract.
    function setContractURI(string calldata newContractURI) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _setContractURI(newContractURI);
    }

    function _msgSender() internal view virtual override(Context, ERC2771Context) returns (address) {
        return super._msgSender();
    }

    function _msgData() internal view virtual override(Context, ERC2771Context) returns (bytes calldata) {
        return super._msgData();
    }

    function _contextSuffixLength()
        internal
        view
        virtual
        override(Context, ERC2771Context)
        returns (uint256)
    {
        return super._contextSuffixLength();
    }
}
