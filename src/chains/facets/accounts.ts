import type { Hex } from '#lib/hex'
import type { ScaCore, UpgradeTarget } from '#lib/sca-cores'
import type { Address, TxId } from '../addresses/types.ts'
import type { ChainLog } from './blocks.ts'
import type { GasEstimate } from './offers.ts'

/** A call of an address: it creates no contract. */
export type AddressedCall = { to: Address; valueAtomic: bigint; data: Hex }

/** Why a contract cannot be relied on. `other-accounts`: the factory makes accounts at other addresses than the client. */
export type ContractProblem = 'missing' | 'unknown-code' | 'other-accounts'

/** A contract that smart accounts need on a chain, and the code that stands there. */
export type AccountContract = {
  name: string
  /** The accounts that need it: those of developers' wallets, modular ones, or all of them. */
  of: 'all' | 'developer' | 'modular'
  address: Address
  /** Hash of the code there. */
  codeHash: Hex
  /** Whether the operator has pinned the hash. */
  isPinned: boolean
  problem?: ContractProblem
}

/** A call that creates a contract at the one address that its code determines. */
export type ContractCreation = { address: Address; call: AddressedCall }

/** The contract that pays the gas of an operation from the deposit of its sponsor; `data` is what it checks. */
export type Sponsorship = { address: Address; verificationGas: bigint; postOpGas: bigint; data: Hex }

/** A user operation (ERC-4337): a call of a smart account, before its owner has signed it. Fees are wei per gas. */
export type UnsignedOperation = {
  account: Address
  nonce: bigint
  /** Creates the account, with its first operation. */
  creation?: AccountCreation | undefined
  callData: Hex
  callGas: bigint
  verificationGas: bigint
  preVerificationGas: bigint
  maxFeeAtomic: bigint
  priorityFeeAtomic: bigint
  sponsorship?: Sponsorship | undefined
}

export type UserOperation = UnsignedOperation & { signature: Hex }

/** The call that an operation makes, and its terms. `owner`: the address whose key signs for the account. */
export type OperationRequest = {
  account: Address
  owner: Address
  /** The version that the account is created with. */
  core: ScaCore
  nonce: bigint
  isDeployed: boolean
  call: AddressedCall
  /** Gas of the call as a transaction of its own. */
  gas: bigint
  /** Gas for the data on a parent chain: see `Accounts.dataGasOf`. */
  dataGas: bigint
  fee: { maxFeeAtomic: bigint; priorityFeeAtomic: bigint }
}

export type AccountUpgrade = {
  call: AddressedCall
  signature: string
  values: readonly unknown[]
  gas: bigint
}

/**
 * Gas of the EntryPoint for one operation, and of its data. `least`, `most`: less or more is not sponsored. `ofData`: the part of
 * the estimate for the data on a parent chain.
 */
export type PreVerificationGas = { estimated: bigint; least: bigint; most: bigint; ofData: bigint }

/** The gas limits of an operation. */
export type OperationGas = { callGas: bigint; verificationGas: bigint; preVerificationGas: bigint }

/** An operation in a block, as the EntryPoint logs it. `transfers`: the native coins that its calls carried. */
export type ExecutedOperation = {
  hash: Hex
  txHash: TxId
  logIndex: number
  account: Address
  /** The contract whose deposit was charged; that of the account itself for the zero address. */
  paymaster: Address
  nonce: bigint
  success: boolean
  feeAtomic: bigint
  gasUsed: bigint
  transfers: readonly { to: Address; amountAtomic: bigint }[]
}

/** The coins that the EntryPoint paid for the operations of one transaction, and to whom. */
export type Compensation = { txHash: TxId; beneficiary: Address; amountAtomic: bigint }

/** Coins that entered a deposit at the EntryPoint, or left it other than for gas. One side is the account of the deposit. */
export type DepositMove = {
  txHash: TxId
  /** `value`: the transaction itself carried the coins. `log`: the position is that of the log that tells of them. */
  kind: 'value' | 'log'
  position: number
  from: Address
  to: Address
  amountAtomic: bigint
}

/** The operations that a block executed, and what moved at the EntryPoint. */
export type BlockOperations = {
  operations: ExecutedOperation[]
  compensations: Compensation[]
  depositMoves: DepositMove[]
}

/**
 * `failed`: the operation at `index` makes the whole bundle fail. `reverted`: one of them does, without the words of the EntryPoint.
 * `unknown`: the node gave no verdict.
 */
export type BundleSimulation =
  | { kind: 'passes' }
  | { kind: 'failed'; index: number; reason: string }
  | { kind: 'reverted' | 'unknown'; message: string }

/** The owners of an account, each with its weight: addresses, and keys of P-256 such as those of passkeys. */
export type AccountOwners = {
  owners: readonly { address: Address; weight: bigint }[]
  keys: readonly { x: bigint; y: bigint; weight: bigint }[]
  /** The sum of weights that a signature needs. */
  threshold: bigint
}

/** Owners that an account got, by their ids. The log may be of any contract at the address of the account. */
export type OwnersAdded = { account: Address; ownerIds: readonly Hex[]; logIndex: number }

export type AccountCreation = { factory: Address; data: Hex }

/** An operation in a block as JSON-RPC returns it. */
export type OperationReceipt = {
  success: boolean
  /** Why its call reverted, where the contract said so. */
  reason: string | undefined
  feeAtomic: bigint
  gasUsed: bigint
  /** The receipt of the transaction that executed it. */
  receipt: Record<string, unknown>
  /** The logs that the operation itself left. */
  logs: readonly unknown[]
}

/** Smart contract accounts whose owners sign elsewhere, such as with passkeys in pages. Their contracts are not ours. */
export type ModularAccounts = {
  /** The contract whose address the domain of signed messages names. */
  ownershipContract: Address
  /** The account of these owners, whether it is deployed or not. */
  accountOf(owners: AccountOwners): { account: Address; creation: AccountCreation }
  /** The account that a creation makes, and its owners; `undefined` when it is no creation of such an account. */
  createdBy(creation: AccountCreation): { account: Address; owners: AccountOwners } | undefined
  /** Whether such an account is deployed at an address. */
  isDeployed(account: Address): Promise<boolean>
  /** Whether an account is deployed and has each of these owners now: addresses, or coordinates of keys as `x:y`. */
  hasOwners(account: Address, owners: readonly string[]): Promise<boolean[]>
  /** The call data of an operation in which an account makes this call. */
  callDataOf(call: AddressedCall): Hex
  /** The id of such an owner in the logs of accounts. */
  ownerId(owner: string): Hex
  /**
   * Reads an operation in the form of JSON-RPC; throws ValueProblem. Gas limits that are missing, as in a request for an
   * estimate, are 0.
   */
  readOperation(value: unknown, at: string): UserOperation
  /** The operation in that form. */
  showOperation(operation: UserOperation): Record<string, Hex>
  /** The operation with room for the signature of its sponsor, who pays for it until then. `digest`: what the sponsor signs. */
  sponsored(
    operation: UnsignedOperation,
    sponsor: Address,
    validUntilMs: number,
  ): { operation: UnsignedOperation; digest: Buffer }
  /** The gas that none of the limits of an operation measures, when a block takes `priceAtomic` for each gas. */
  preVerificationGas(operation: UserOperation, priceAtomic: bigint): Promise<PreVerificationGas>
  /** The gas that the call of an operation needs. Never throws for an unreachable node. */
  estimateCall(operation: UserOperation): Promise<GasEstimate>
  /**
   * Executes one operation in the state of the newest block: by its sponsor, as if the deposit of that covered it, or beside
   * sponsors.
   */
  simulate(operation: UserOperation, sponsor: Address | undefined): Promise<BundleSimulation>
  /** `too large`: the transaction has more logs than a request is answered with. */
  receiptOf(txHash: string, userOpHash: string): Promise<OperationReceipt | 'too large' | undefined>
}

/**
 * The price of a paymaster: base units of USDC for a whole native coin, and what is added to that in basis points. Operations are paid
 * for until it ends.
 */
export type UsdcPrice = { nativeTokenPrice: bigint; feeSpread: number; validUntilMs: number }

/** Paymasters that pay the gas of any account for USDC, from the deposit of their owner. */
export type UsdcPaymasters = {
  /** That of an owner; `undefined` where there can be none. */
  of(owner: Address): ContractCreation | undefined
  /** Its price; `undefined` while it has none. */
  priceOf(paymaster: Address): Promise<UsdcPrice | undefined>
  /** The call of its owner that sets the price, whose end is at most a week away. */
  priceCall(paymaster: Address, price: UsdcPrice): AddressedCall
  /** The call of its owner that takes out what accounts paid. */
  withdrawalCall(paymaster: Address, to: Address, amountAtomic: bigint): AddressedCall
}

/** Smart contract accounts of a chain. */
export type Accounts = {
  modular: ModularAccounts
  usdcPaymasters: UsdcPaymasters
  /** The contract that executes operations. */
  entryPoint: Address
  /** The contracts that operations need to create or upgrade their accounts, in the order of their creation. */
  creationsFor(operations: readonly UserOperation[]): readonly ContractCreation[]
  /** The call with which an account upgrades itself, with its signature and values as customers see it, and its gas. */
  upgrade(account: Address, core: UpgradeTarget): AccountUpgrade
  /** Reads the contracts that accounts need, and compares their code with what is known or pinned. */
  contracts(): Promise<readonly AccountContract[]>
  /** The contracts that the treasury can create, in the order of their creation. */
  creations: readonly ContractCreation[]
  /** The paymaster of a sponsor. */
  paymasterOf(sponsor: Address): ContractCreation
  /** The deposit at the EntryPoint that a paymaster pays from; now, or at a block. */
  depositOf(paymaster: Address, atBlock?: Hex): Promise<bigint>
  /** The call that adds to it. */
  depositCall(paymaster: Address, amountAtomic: bigint): AddressedCall
  /** The call of its sponsor that takes coins out of it. */
  withdrawalCall(paymaster: Address, to: Address, amountAtomic: bigint): AddressedCall
  /** The gas limits of an operation whose call needs `gas` as a transaction of its own. */
  gasOf(request: Pick<OperationRequest, 'isDeployed' | 'call' | 'gas' | 'dataGas'>): OperationGas
  /** The gas that covers the fee for the data of an operation on a parent chain, when each gas costs `priceAtomic`. */
  dataGasOf(
    request: Pick<OperationRequest, 'account' | 'isDeployed' | 'call' | 'gas'>,
    priceAtomic: bigint,
  ): Promise<bigint>
  /** Builds an operation that the paymaster of `sponsor` pays for, with the 32 bytes that the sponsor signs. */
  build(request: OperationRequest, sponsor: Address): { operation: UnsignedOperation; sponsorDigest: Buffer }
  attachSponsor(operation: UnsignedOperation, signature: Buffer): UnsignedOperation
  /** The hash that identifies an operation, and the 32 bytes that the owner of the account signs. */
  hashesOf(operation: UnsignedOperation): { hash: Hex; digest: Buffer }
  attachOwner(operation: UnsignedOperation, signature: Buffer): UserOperation
  /** The gas that an operation may use, in all its parts. */
  gasLimitOf(operation: UnsignedOperation): bigint
  /** The gas that the sponsor of an operation pays for at most: more than its limits where a chain charges those of transactions. */
  gasPaidFor(operation: UnsignedOperation): bigint
  /** The deposit that the EntryPoint requires for an operation before it executes it. */
  requiredDeposit(operation: UnsignedOperation): bigint
  /** The call with which the sponsor executes operations, whose gas its paymaster pays to it. */
  bundleCall(operations: readonly UserOperation[], sponsor: Address): AddressedCall
  /** The gas with which that call is sent, so that each operation can use all of its limits. */
  bundleGas(operations: readonly UserOperation[], sponsor: Address): bigint
  simulate(operations: readonly UserOperation[], sponsor: Address): Promise<BundleSimulation>
  /** The operations in a block, and what was paid for them. */
  executedIn(block: {
    transactions: readonly {
      hash: TxId
      from: Address
      to: Address | undefined
      valueAtomic: bigint
      bundle?: Hex | undefined
    }[]
    logs: readonly ChainLog[]
  }): BlockOperations
  /** The owners that accounts got in these logs. */
  ownersAddedIn(logs: readonly ChainLog[]): OwnersAdded[]
}
