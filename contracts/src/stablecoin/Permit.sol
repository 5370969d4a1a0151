// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {TypedData} from "./TypedData.sol";

/// @title Permit
/// @notice EIP-2612: an allowance granted by a signature that any account may hand in.
abstract contract Permit is TypedData {
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    mapping(address holder => uint256) private _nonces;

    /// @notice The nonce that the next permit of `holder` has to carry.
    function nonces(address holder) external view returns (uint256) {
        return _nonces[holder];
    }

    /// @notice Sets the allowance of `spender` as `holder` signed, until `deadline` (seconds, inclusive).
    function permit(address holder, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        _permit(holder, spender, value, deadline, abi.encodePacked(r, s, v));
    }

    /// @notice As above, with the signature in one piece; a contract's may have any form.
    function permit(address holder, address spender, uint256 value, uint256 deadline, bytes memory signature)
        external
    {
        _permit(holder, spender, value, deadline, signature);
    }

    function _permit(address holder, address spender, uint256 value, uint256 deadline, bytes memory signature)
        private
        whenNotPaused
        notBlacklisted(holder)
        notBlacklisted(spender)
    {
        require(block.timestamp <= deadline, "FiatTokenV2: permit is expired");
        bytes32 structHash =
            keccak256(abi.encode(PERMIT_TYPEHASH, holder, spender, value, _nonces[holder]++, deadline));
        require(_isSigned(holder, structHash, signature), "EIP2612: invalid signature");
        _approve(holder, spender, value);
    }
}
