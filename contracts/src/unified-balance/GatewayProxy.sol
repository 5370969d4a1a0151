// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";

/// @title GatewayProxy
/// @notice Stands at the address of GatewayWallet or GatewayMinter and runs its code.
/// @dev Creation without the call of `initialize` is refused: no stranger can take the place of the first owner.
contract GatewayProxy is ERC1967Proxy {
    constructor(address implementation, bytes memory initialization) ERC1967Proxy(implementation, initialization) {}
}
