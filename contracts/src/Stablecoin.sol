// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Authorizations} from "./stablecoin/Authorizations.sol";
import {Minting} from "./stablecoin/Minting.sol";
import {Permit} from "./stablecoin/Permit.sol";

/// @title Stablecoin
/// @notice A fiat-backed token, compatible with the interface of the FiatToken contracts, version 2.
///
/// Ownable         the owner appoints the pauser, the blacklister and the master minter
/// Pausable        the pauser stops and restarts everything
/// Blacklistable   the blacklister freezes single accounts
/// Balances        ERC-20 with increaseAllowance and decreaseAllowance; no fee on transfer
/// Minting         minters create within the allowance the master minter gave them, and burn their own
/// TypedData       the EIP-712 domain (name, "2", chain, token), signatures of keys and of contracts
/// Permit          EIP-2612, allowance by signature
/// Authorizations  EIP-3009, transfer by signature
///
/// @dev There is neither a constructor nor an immutable: the runtime code is the same bytes on every chain and at every
/// address, and may be placed there by a genesis file. Its state is then either written into storage beside it or set
/// by `initialize`. Any account can initialise uninitialised code, so place both in one step.
///
/// Modules keep their state private and touch each other's by functions only. The order of bases fixes the
/// storage layout; a genesis writer relies on the layout generated from it.
contract Stablecoin is Minting, Permit, Authorizations {
    bool private _initialized;

    /// @notice Names the token and appoints its roles, once.
    /// @param tokenName part of the EIP-712 domain: signatures made for another name do not count
    /// @param tokenCurrency the fiat currency, such as "USD"
    /// @param tokenDecimals digits after the point, 6 for fiat tokens
    function initialize(
        string memory tokenName,
        string memory tokenSymbol,
        string memory tokenCurrency,
        uint8 tokenDecimals,
        address newMasterMinter,
        address newPauser,
        address newBlacklister,
        address newOwner
    ) external {
        require(!_initialized, "FiatToken: contract is already initialized");
        require(newMasterMinter != address(0), "FiatToken: new masterMinter is the zero address");
        require(newPauser != address(0), "FiatToken: new pauser is the zero address");
        require(newBlacklister != address(0), "FiatToken: new blacklister is the zero address");
        require(newOwner != address(0), "FiatToken: new owner is the zero address");

        _initialized = true;
        _setMetadata(tokenName, tokenSymbol, tokenCurrency, tokenDecimals);
        _setMasterMinter(newMasterMinter);
        _setPauser(newPauser);
        _setBlacklister(newBlacklister);
        _setOwner(newOwner);
    }
}
