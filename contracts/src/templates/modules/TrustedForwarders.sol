// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC2771Context} from "@openzeppelin/contracts/metatx/ERC2771Context.sol";

/// @title TrustedForwarders
/// @notice ERC-2771 with any number of forwarders: for their calls, the sender is the account that they append.
/// @dev The list is fixed at deployment, because a forwarder can act for every account, the admin included. The first
/// forwarder is an immutable of the base contract; a contract without forwarders reads no storage to find the sender.
abstract contract TrustedForwarders is ERC2771Context {
    mapping(address forwarder => bool) private _isTrusted;

    /// @notice The zero address is no forwarder.
    error InvalidForwarder();

    constructor(address[] memory forwarders)
        ERC2771Context(forwarders.length == 0 ? address(0) : forwarders[0])
    {
        for (uint256 i = 0; i < forwarders.length; ++i) {
            if (forwarders[i] == address(0)) revert InvalidForwarder();
            _isTrusted[forwarders[i]] = true;
        }
    }

    /// @notice Whether calls from `forwarder` count as calls of the account appended to them.
    function isTrustedForwarder(address forwarder) public view override returns (bool) {
        return trustedForwarder() != address(0) && _isTrusted[forwarder];
    }
}
