// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Create2} from "@openzeppelin/contracts/utils/Create2.sol";
import {ProxyCode} from "./ProxyCode.sol";
import {SmartAccount} from "./SmartAccount.sol";

/// @title AccountFactory
/// @notice Creates accounts at addresses that their first owners determine: a stranger who creates one changes nothing.
contract AccountFactory {
    SmartAccount public immutable accountImplementation;
    address private immutable allowedPlugin;

    event AccountCreated(address indexed proxy, bytes32 sender, bytes32 salt);

    error PluginIsNotAllowed(address plugin);

    constructor(SmartAccount implementation, address plugin) {
        accountImplementation = implementation;
        allowedPlugin = plugin;
    }

    /// @notice Creates the account, or returns it when it exists.
    /// @param initializingData abi.encode(address[] plugins, bytes32[] manifestHashes, bytes[] pluginInstallData)
    function createAccount(bytes32 sender, bytes32 salt, bytes calldata initializingData)
        external
        returns (SmartAccount account)
    {
        bytes32 mixedSalt = _mixedSalt(sender, salt);
        bytes memory code = _creationCode(initializingData);
        address counterfactual = Create2.computeAddress(mixedSalt, keccak256(code));
        if (counterfactual.code.length > 0) return SmartAccount(payable(counterfactual));
        account = SmartAccount(payable(Create2.deploy(0, mixedSalt, code)));
        emit AccountCreated(address(account), sender, salt);
    }

    /// @notice The address at which `createAccount` creates the account.
    function getAddress(bytes32 sender, bytes32 salt, bytes calldata initializingData)
        external
        view
        returns (address counterfactual, bytes32 mixedSalt)
    {
        mixedSalt = _mixedSalt(sender, salt);
        counterfactual = Create2.computeAddress(mixedSalt, keccak256(_creationCode(initializingData)));
    }

    function isPluginAllowed(address plugin) external view returns (bool) {
        return plugin == allowedPlugin;
    }

    function _mixedSalt(bytes32 sender, bytes32 salt) private pure returns (bytes32) {
        return keccak256(abi.encode(sender, salt));
    }

    function _creationCode(bytes calldata initializingData) private view returns (bytes memory) {
        (address[] memory plugins, bytes32[] memory manifestHashes, bytes[] memory installData) =
            abi.decode(initializingData, (address[], bytes32[], bytes[]));
        for (uint256 i = 0; i < plugins.length; ++i) {
            if (plugins[i] != allowedPlugin) revert PluginIsNotAllowed(plugins[i]);
        }
        bytes memory initialization =
            abi.encodeCall(SmartAccount.initializeUpgradableMSCA, (plugins, manifestHashes, installData));
        return abi.encodePacked(ProxyCode.CREATION, abi.encode(accountImplementation, initialization));
    }
}
