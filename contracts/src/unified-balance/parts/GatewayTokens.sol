// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @notice The functions of a fiat token, beyond ERC-20, that a wallet of deposits calls.
interface IDepositToken {
    function burn(uint256 value) external;

    function isBlacklisted(address account) external view returns (bool);

    function permit(address owner, address spender, uint256 value, uint256 deadline, bytes calldata signature)
        external;

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;
}

/// @notice A token that the caller may mint, or a contract that mints it on the caller's behalf.
interface IMintAuthority {
    function mint(address to, uint256 value) external returns (bool);
}
