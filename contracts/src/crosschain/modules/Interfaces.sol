// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @notice What the message transmitter calls on the recipient of a message.
interface IMessageHandler {
    /// @notice Handles a message whose block was final on its chain when it was attested.
    /// @return Whether the message was handled; false fails its receipt.
    function handleReceiveFinalizedMessage(
        uint32 sourceDomain,
        bytes32 sender,
        uint32 finalityThresholdExecuted,
        bytes calldata messageBody
    ) external returns (bool);

    /// @notice Handles a message that was attested earlier than that.
    /// @return Whether the message was handled; false fails its receipt.
    function handleReceiveUnfinalizedMessage(
        uint32 sourceDomain,
        bytes32 sender,
        uint32 finalityThresholdExecuted,
        bytes calldata messageBody
    ) external returns (bool);
}

/// @notice The sending half of the message transmitter.
interface IMessageSender {
    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata messageBody
    ) external;
}

/// @notice The receiving half of the message transmitter.
interface IMessageReceiver {
    function receiveMessage(bytes calldata message, bytes calldata attestation) external returns (bool success);
}

/// @notice What the executor calls on a handler.
interface IHookHandler {
    /// @notice Uses `amount` of the token, which it was given just before, as `data` says; reverts where it cannot use all of it.
    function handle(IERC20 token, uint256 amount, bytes calldata data) external;
}

/// @notice What the token messenger calls on the token minter.
interface ITokenMinter {
    function burn(address burnToken, uint256 burnAmount) external;

    function mint(uint32 sourceDomain, bytes32 burnToken, address to, uint256 amount)
        external
        returns (address mintToken);

    function mint(
        uint32 sourceDomain,
        bytes32 burnToken,
        address recipientOne,
        address recipientTwo,
        uint256 amountOne,
        uint256 amountTwo
    ) external returns (address mintToken);
}

/// @notice What a token offers that moves between chains: see contracts/src/stablecoin/Minting.sol.
interface IMintBurnToken {
    function mint(address to, uint256 amount) external returns (bool);

    function burn(uint256 amount) external;

    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// @notice What the contracts that burn for others call on the token messenger.
interface ITokenMessenger {
    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external;

    function depositForBurnWithHook(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold,
        bytes calldata hookData
    ) external;

    function isDenylisted(address account) external view returns (bool);
}
