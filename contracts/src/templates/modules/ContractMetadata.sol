// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title ContractMetadata
/// @notice ERC-7572: the address of a document that describes the contract.
abstract contract ContractMetadata {
    string private _contractURI;

    event ContractURIUpdated();

    /// @notice The address of the document; empty when there is none.
    function contractURI() external view returns (string memory) {
        return _contractURI;
    }

    function _setContractURI(string memory newContractURI) internal {
        _contractURI = newContractURI;
        emit ContractURIUpdated();
    }
}
