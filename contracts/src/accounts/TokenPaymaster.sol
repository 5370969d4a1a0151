// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Paymaster} from "@openzeppelin/contracts/account/paymaster/Paymaster.sol";
import {ERC4337Utils} from "@openzeppelin/contracts/account/utils/ERC4337Utils.sol";
import {IEntryPoint, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {IERC20, SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

interface IPermitBySignature {
    function permit(address holder, address spender, uint256 value, uint256 deadline, bytes calldata signature)
        external;
}

/// @title TokenPaymaster
/// @notice Pays for user operations from its owner's deposit, and takes what they cost from their accounts in one token.
/// @dev `paymasterData` is packed: mode 0 (uint8), the token (address), an amount (uint256) and the account's EIP-2612 permit of
/// that amount for this contract (bytes); or mode 0 alone, or nothing, where the account has approved this contract before. A permit
/// has no deadline, since validation must not read the time. Validation takes the most that the operation can cost; the rest returns
/// to the account after it.
contract TokenPaymaster is Paymaster {
    using ERC4337Utils for PackedUserOperation;
    using SafeERC20 for IERC20;

    /// @dev `nativeTokenPrice`: base units of the token for a whole native coin. `feeSpread`: added to it, in basis points.
    struct Price {
        uint128 nativeTokenPrice;
        uint32 feeSpread;
        uint48 validUntil;
    }

    /// @dev All that the second half of an operation needs: the price is that of the first half.
    struct Taken {
        address sender;
        bytes32 userOpHash;
        uint256 nativeTokenPrice;
        uint256 feeSpread;
        uint256 prefund;
        uint256 preOpGasMax;
        uint256 executionGasLimit;
    }

    uint256 private constant wholeCoin = 1e18;
    uint256 private constant basisPoints = 10_000;
    uint256 private constant modeBytes = 1;
    uint256 private constant permitBytes = 53;
    /// @dev The EntryPoint charges a tenth of the execution gas that an operation leaves unused.
    uint256 private constant penaltyShare = 10;

    /// @notice The most that may be added to the price, in basis points.
    uint256 public constant feeSpreadMax = 2_000;
    /// @notice The longest time for which a price counts.
    uint256 public constant priceLifetimeMax = 7 days;
    /// @notice The least `paymasterPostOpGasLimit`: with less, the rest could not return to the account.
    uint256 public constant postOpGasMin = 15_000;
    /// @notice Gas that is charged for the work after the operation, which its measured gas leaves out.
    /// @dev It covers a refund to an account that had none of the token before the transaction: the most that storage costs. A
    /// stranger may bundle, and names any price of gas: what the charge left out would be taken from the deposit many times.
    uint256 public constant additionalGasCharge = 45_000;

    IEntryPoint private immutable paymasterEntryPoint;
    address public immutable owner;
    IERC20 public immutable token;

    /// @notice The price in force. Nothing is paid for without one, or after its end.
    Price public price;

    event PriceSet(uint256 nativeTokenPrice, uint256 feeSpread, uint256 validUntil);
    event UserOperationSponsored(
        IERC20 indexed token,
        address indexed sender,
        bytes32 userOpHash,
        uint256 nativeTokenPrice,
        uint256 actualTokenNeeded,
        uint256 feeTokenAmount
    );

    /// @dev The data has another form than the contract describes.
    error MalformedPaymasterData();
    error UnsupportedToken(address token);
    error PostOpGasTooLow(uint256 least);
    error PriceNotSet();
    error PriceOutOfBounds();

    modifier onlyOwner() {
        if (msg.sender != owner) revert PaymasterUnauthorized(msg.sender);
        _;
    }

    constructor(IEntryPoint entryPoint_, address owner_, IERC20 token_) {
        paymasterEntryPoint = entryPoint_;
        owner = owner_;
        token = token_;
    }

    function entryPoint() public view override returns (IEntryPoint) {
        return paymasterEntryPoint;
    }

    /// @notice Base units of the token for a whole native coin, without what is added to it.
    function fetchPrice() external view returns (uint256) {
        return price.nativeTokenPrice;
    }

    /// @notice What is added to the price, in basis points.
    function feeSpread() external view returns (uint256) {
        return price.feeSpread;
    }

    /// @notice Sets the price and its end (seconds), which is at most `priceLifetimeMax` away.
    function setPrice(uint128 nativeTokenPrice, uint32 feeSpread_, uint48 validUntil) external onlyOwner {
        if (nativeTokenPrice == 0 || feeSpread_ > feeSpreadMax) revert PriceOutOfBounds();
        if (validUntil <= block.timestamp || validUntil > block.timestamp + priceLifetimeMax) revert PriceOutOfBounds();
        price = Price(nativeTokenPrice, feeSpread_, validUntil);
        emit PriceSet(nativeTokenPrice, feeSpread_, validUntil);
    }

    /// @notice Adds the coins of the call to the deposit at the EntryPoint.
    function deposit() external payable {
        _deposit(msg.value);
    }

    /// @notice Takes coins out of the deposit.
    function withdraw(address payable to, uint256 amount) external onlyOwner {
        _withdraw(to, amount);
    }

    /// @notice Takes what accounts paid.
    function withdrawToken(address to, uint256 amount) external onlyOwner {
        token.safeTransfer(to, amount);
    }

    /// @notice Adds the coins of the call to the stake, which bundlers of others ask of a paymaster that acts after operations.
    function addStake(uint32 unstakeDelay) external payable onlyOwner {
        _addStake(msg.value, unstakeDelay);
    }

    function unlockStake() external onlyOwner {
        _unlockStake();
    }

    function withdrawStake(address payable to) external onlyOwner {
        _withdrawStake(to);
    }

    function _validatePaymasterUserOp(PackedUserOperation calldata operation, bytes32 hash, uint256 costMax)
        internal
        override
        returns (bytes memory, uint256)
    {
        Price memory now_ = price;
        if (now_.nativeTokenPrice == 0) revert PriceNotSet();
        uint256 postOpGas = operation.paymasterPostOpGasLimit();
        if (postOpGas < postOpGasMin) revert PostOpGasTooLow(postOpGasMin);
        _permit(operation.sender, operation.paymasterData());
        Taken memory taken = Taken({
            sender: operation.sender,
            userOpHash: hash,
            nativeTokenPrice: now_.nativeTokenPrice,
            feeSpread: now_.feeSpread,
            prefund: 0,
            preOpGasMax: operation.preVerificationGas + operation.verificationGasLimit()
                + operation.paymasterVerificationGasLimit(),
            executionGasLimit: operation.callGasLimit() + postOpGas
        });
        (uint256 cost, uint256 fee) = _costOf(taken, costMax + additionalGasCharge * operation.maxFeePerGas());
        taken.prefund = cost + fee;
        token.safeTransferFrom(taken.sender, address(this), taken.prefund);
        return (abi.encode(taken), ERC4337Utils.packValidationData(true, 0, now_.validUntil));
    }

    /// @dev A permit that was handed in before, such as by an observer, fails here, and its allowance is there all the same.
    function _permit(address holder, bytes calldata data) private {
        if (data.length > 0 && data[0] != 0) revert MalformedPaymasterData();
        if (data.length <= modeBytes) return;
        if (data.length <= permitBytes) revert MalformedPaymasterData();
        address named = address(bytes20(data[modeBytes:21]));
        if (named != address(token)) revert UnsupportedToken(named);
        uint256 amount = uint256(bytes32(data[21:permitBytes]));
        try IPermitBySignature(named).permit(
            holder, address(this), amount, type(uint256).max, data[permitBytes:]
        ) {} catch {}
    }

    function _postOp(PostOpMode, bytes calldata context, uint256 actualCost, uint256 feePerGas) internal override {
        Taken memory taken = abi.decode(context, (Taken));
        uint256 gas = additionalGasCharge + _penaltyMax(taken, feePerGas == 0 ? 0 : actualCost / feePerGas);
        (uint256 cost, uint256 fee) = _costOf(taken, actualCost + gas * feePerGas);
        uint256 needed = Math.min(cost + fee, taken.prefund);
        emit UserOperationSponsored(token, taken.sender, taken.userOpHash, taken.nativeTokenPrice, needed, fee);
        if (needed < taken.prefund) token.safeTransfer(taken.sender, taken.prefund - needed);
    }

    /// @dev The most that the EntryPoint adds for gas of the execution that nothing used: it computes that after this contract is
    /// asked. The gas before the execution is not told, and no more than its limits.
    function _penaltyMax(Taken memory taken, uint256 actualGas) private pure returns (uint256) {
        uint256 usedMin = Math.saturatingSub(actualGas, taken.preOpGasMax);
        return Math.saturatingSub(taken.executionGasLimit, usedMin) / penaltyShare;
    }

    /// @dev What coins cost in the token, rounded up, and what is added to that.
    function _costOf(Taken memory taken, uint256 coins) private pure returns (uint256 cost, uint256 fee) {
        cost = Math.mulDiv(coins, taken.nativeTokenPrice, wholeCoin, Math.Rounding.Ceil);
        fee = Math.mulDiv(cost, taken.feeSpread, basisPoints, Math.Rounding.Ceil);
    }
}
