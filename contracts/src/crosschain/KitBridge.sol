// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {ITokenMessenger} from "./modules/Interfaces.sol";

/// @title KitBridge
/// @notice Burns for a caller and pays a fee of the caller's application, in one transaction. The published bridge clients call
/// it where a chain has one. It takes `amount` and `fee` from the caller, burns the one and pays the other to `feeRecipient`.
///
/// Fees have no share of the protocol: the recipient gets all of it.
///
/// @dev The burn names this contract as its sender. It holds tokens within a call only, has no owner and no state, and needs
/// neither initialisation nor a proxy.
contract KitBridge {
    using SafeERC20 for IERC20;

    struct BridgeParams {
        uint256 amount;
        uint256 maxFee;
        uint256 fee;
        bytes32 mintRecipient;
        bytes32 destinationCaller;
        address burnToken;
        address feeRecipient;
        uint32 destinationDomain;
        uint32 minFinalityThreshold;
    }

    struct PermitParams {
        uint256 deadline;
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    /// @notice The token messenger that burns.
    ITokenMessenger public immutable tokenMessenger;

    constructor(ITokenMessenger tokenMessenger_) {
        require(address(tokenMessenger_) != address(0), "TokenMessenger not set");
        tokenMessenger = tokenMessenger_;
    }

    /// @notice Burns and pays out of an allowance of `amount` and `fee` that the caller gave before.
    function bridgeWithPreapproval(BridgeParams calldata bridgeParams) external {
        _take(bridgeParams);
        _burn(bridgeParams);
    }

    /// @notice The same, with `hookData` in the message.
    function bridgeWithPreapprovalAndHook(BridgeParams calldata bridgeParams, bytes calldata hookData) external {
        _take(bridgeParams);
        _burnWithHook(bridgeParams, hookData);
    }

    /// @notice Burns and pays out of an allowance that the caller signed (EIP-2612): exactly `amount` and `fee`.
    function bridgeWithPermit(BridgeParams calldata bridgeParams, PermitParams calldata permitParams) external {
        _permit(bridgeParams, permitParams);
        _take(bridgeParams);
        _burn(bridgeParams);
    }

    /// @notice The same, with `hookData` in the message.
    function bridgeWithPermitAndHook(
        BridgeParams calldata bridgeParams,
        PermitParams calldata permitParams,
        bytes calldata hookData
    ) external {
        _permit(bridgeParams, permitParams);
        _take(bridgeParams);
        _burnWithHook(bridgeParams, hookData);
    }

    /// @notice The parts of a fee for the application and for the protocol.
    function calculateFeeShares(uint256 fee)
        external
        pure
        returns (uint256 developerShare, uint256 protocolShare)
    {
        return (fee, 0);
    }

    /// @notice The part of a fee for the protocol: none.
    function getProtocolFee(uint256) external pure returns (uint256 protocolFee) {
        return 0;
    }

    /// @dev Any account may hand in the permit before this call, which then fails here and has done its work already. Without an
    /// allowance the transfer fails.
    function _permit(BridgeParams calldata params, PermitParams calldata permit) private {
        uint256 value = params.amount + params.fee;
        try IERC20Permit(params.burnToken).permit(
            msg.sender, address(this), value, permit.deadline, permit.v, permit.r, permit.s
        ) {} catch {}
    }

    /// @dev The messenger sees this contract as the depositor: the caller's own place on its list is looked up here.
    function _take(BridgeParams calldata params) private {
        require(!tokenMessenger.isDenylisted(msg.sender), "Denylistable: account is on denylist");
        IERC20 token = IERC20(params.burnToken);
        token.safeTransferFrom(msg.sender, address(this), params.amount);
        if (params.fee > 0) token.safeTransferFrom(msg.sender, params.feeRecipient, params.fee);
        token.forceApprove(address(tokenMessenger), params.amount);
    }

    function _burn(BridgeParams calldata params) private {
        tokenMessenger.depositForBurn(
            params.amount,
            params.destinationDomain,
            params.mintRecipient,
            params.burnToken,
            params.destinationCaller,
            params.maxFee,
            params.minFinalityThreshold
        );
    }

    function _burnWithHook(BridgeParams calldata params, bytes calldata hookData) private {
        tokenMessenger.depositForBurnWithHook(
            params.amount,
            params.destinationDomain,
            params.mintRecipient,
            params.burnToken,
            params.destinationCaller,
            params.maxFee,
            params.minFinalityThreshold,
            hookData
        );
    }
}
