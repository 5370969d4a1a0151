// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {GatewayBase} from "./GatewayBase.sol";

/// @title Delegates
/// @notice Accounts that sign burn intents for the balance of a depositor.
/// @dev A removed delegate gets no new attestations, but its intents can still be burned: otherwise a removal between
/// the mint on another chain and the burn here would make money.
abstract contract Delegates is GatewayBase {
    enum Standing {
        Never,
        Delegate,
        Removed
    }

    mapping(address token => mapping(address depositor => mapping(address delegate => Standing))) private _standings;

    event DelegateAdded(address indexed token, address indexed depositor, address delegate);
    event DelegateRemoved(address indexed token, address indexed depositor, address delegate);

    error NotAuthorized();
    error CannotDelegateToSelf();

    /// @notice Whether `addr` is the depositor or a delegate for this token.
    function isAuthorizedForBalance(address token, address depositor, address addr) external view returns (bool) {
        return addr == depositor || _standings[token][depositor][addr] == Standing.Delegate;
    }

    /// @notice Lets `delegate` sign for the caller's balance of `token`.
    function addDelegate(address token, address delegate)
        external
        whenNotPaused
        notDenylisted(msg.sender)
        notDenylisted(delegate)
        tokenSupported(token)
    {
        _requireNotZero(delegate);
        if (delegate == msg.sender) revert CannotDelegateToSelf();
        _standings[token][msg.sender][delegate] = Standing.Delegate;
        emit DelegateAdded(token, msg.sender, delegate);
    }

    /// @notice Ends that; without effect for an account that is no delegate.
    function removeDelegate(address token, address delegate)
        external
        whenNotPaused
        notDenylisted(msg.sender)
        tokenSupported(token)
    {
        _requireNotZero(delegate);
        if (_standings[token][msg.sender][delegate] != Standing.Delegate) return;
        _standings[token][msg.sender][delegate] = Standing.Removed;
        emit DelegateRemoved(token, msg.sender, delegate);
    }

    function _requireEverAuthorized(address token, address depositor, address signer) internal view {
        if (signer != depositor && _standings[token][depositor][signer] == Standing.Never) revert NotAuthorized();
    }
}
