import { unanswered } from '#api/fees/estimate'
import { badParams, checked, type RpcMethods } from '#api/json-rpc/method'
import { parseAddress } from '#chains/address'
import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { AccountOwners } from '#chains/facets/accounts'
import { accountsOn } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'
import {
  claimMappings,
  findWalletAt,
  type ModularWallet,
  mappingsOfOwner,
  type OwnerMapping,
  openModularWallet,
} from '#engines/modular/index'
import { ApiError } from '#lib/errors'
import { limited } from '../limit-reads.ts'
import { countRows } from '../limit-rows.ts'
import { requireContracts } from '../require-contracts.ts'
import {
  type MappingOwner,
  type MappingRequest,
  mappingParams,
  modularWalletParams,
  ownerParams,
  type WalletRequest,
} from './schema.ts'

const scaCore = 'circle_6900_v1'

/** Returns the wallet of these owners, made on first use. Its address follows from the owners alone. */
async function getAddress(ctx: Ctx, [request]: [WalletRequest], chain: Chain) {
  const owners = ownersIn(chain, request)
  await requireContracts(ctx, chain).catch((error) => {
    // A node that is away does not refuse the wallet; operations need it.
    if (error instanceof ApiError) throw error
  })
  const { account, creation } = accountsOn(chain).modular.accountOf(owners)
  const name = request.metadata?.name ?? undefined
  const { blockchain } = chain.network
  if (!(await findWalletAt(ctx.database, ctx.entity.id, blockchain, account))) countRows(ctx)
  const wallet = await openModularWallet(ctx, chain, { address: account, owners, name })
  return showWallet(chain, wallet, creation)
}

function ownersIn(
  { network }: Chain,
  { scaConfiguration: { initialOwnershipConfiguration } }: WalletRequest,
): AccountOwners {
  const { owners = [], webauthnOwners = [], thresholdWeight } = initialOwnershipConfiguration.weightedMultisig
  const at = 'params[0].scaConfiguration.initialOwnershipConfiguration.weightedMultisig'
  if (owners.length + webauthnOwners.length === 0) throw badParams(`${at} must name an owner`)
  const weights = [...owners, ...webauthnOwners].reduce((sum, { weight }) => sum + weight, 0)
  if (thresholdWeight > weights)
    throw badParams(
      `${at}.thresholdWeight is above the sum of the weights, so that all owners together could not sign`,
    )
  return {
    owners: owners.map(({ address, weight }, index) => {
      const read = parseAddress(network.blockchain, address)
      if (!read) throw badParams(`${at}.owners[${index}].address has a wrong checksum`)
      return { address: read as Address, weight: BigInt(weight) }
    }),
    keys: webauthnOwners.map(({ publicKeyX, publicKeyY, weight }, index) => ({
      ...pointIn(publicKeyX, publicKeyY, `${at}.webauthnOwners[${index}]`),
      weight: BigInt(weight),
    })),
    threshold: BigInt(thresholdWeight),
  }
}

/** The curve P-256: y² = x³ - 3x + b. */
const prime = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n
const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn

function pointIn(textX: string, textY: string, at: string): { x: bigint; y: bigint } {
  const [x, y] = [BigInt(textX), BigInt(textY)]
  const isOnCurve = x < prime && y < prime && (y * y - (x * x * x - 3n * x + b)) % prime === 0n
  if (!isOnCurve) throw badParams(`${at} is no point of the curve P-256`)
  return { x, y }
}

const showWallet = (
  chain: Chain,
  { id, address, blockchain, name, owners, createDate, updateDate }: ModularWallet,
  { factory, data }: { factory: string; data: string },
) => ({
  id,
  address,
  blockchain,
  state: 'LIVE',
  ...(name !== null && { name }),
  scaCore,
  scaConfiguration: {
    initialOwnershipConfiguration: {
      ownershipContractAddress: accountsOn(chain).modular.ownershipContract,
      weightedMultisig: owners,
    },
    initCode: `${factory}${data.slice(2)}`,
  },
  createDate,
  updateDate,
})

async function createMapping(ctx: Ctx, [request]: [MappingRequest], chain: Chain) {
  const { blockchain } = chain.network
  const address = parseAddress(blockchain, request.walletAddress)
  if (!address) throw badParams('params[0].walletAddress has a wrong checksum')
  const wallet = await findWalletAt(ctx.database, ctx.entity.id, blockchain, address)
  if (!wallet)
    throw badParams(
      'params[0].walletAddress is no wallet of this endpoint: make it by circle_getAddress, or send its first operation',
    )
  const owners = request.owners.map((owner, index) => ownerKey(chain, owner, `params[0].owners[${index}]`))
  countRows(ctx, owners.length)
  const made = await withNode(ctx, chain, () => claimMappings(ctx, chain, wallet, owners))
  if (made.length === 0) throw badParams('the owner has this wallet already')
  return made.map(showMapping)
}

async function getMapping(ctx: Ctx, [{ owner }]: [{ owner: MappingOwner }], chain: Chain) {
  const key = ownerKey(chain, owner, 'params[0].owner')
  return (await withNode(ctx, chain, () => mappingsOfOwner(ctx, chain, key))).map(showMapping)
}

const withNode = <Result>(ctx: Ctx, chain: Chain, work: () => Promise<Result>): Promise<Result> =>
  limited(ctx, 'reads', () =>
    work().catch((error) => {
      throw unanswered(ctx, chain, error, 'rpcNodeUnavailable')
    }),
  )

/** An owner as it is stored: an address, or the coordinates of a key as `x:y`. */
function ownerKey({ network }: Chain, owner: MappingOwner, at: string): string {
  if (owner.type === 'EOAOWNER') {
    const address = parseAddress(network.blockchain, owner.identifier.address)
    if (address) return address
    throw badParams(`${at}.identifier.address has a wrong checksum`)
  }
  const { publicKeyX, publicKeyY } = owner.identifier
  const { x, y } = pointIn(publicKeyX, publicKeyY, `${at}.identifier`)
  return `${x}:${y}`
}

function showMapping({ id, blockchain, walletAddress, owner, createDate }: OwnerMapping) {
  const [publicKeyX, publicKeyY] = owner.split(':')
  const shown =
    publicKeyY === undefined
      ? { type: 'EOAOWNER', identifier: { address: owner } }
      : { type: 'WEBAUTHOWNER', identifier: { publicKeyX, publicKeyY } }
  return { id, blockchain, owner: shown, walletAddress, createDate, updateDate: createDate }
}

/** The wallets of owners. */
export const modularWalletMethods: RpcMethods<Chain> = {
  circle_getAddress: checked(modularWalletParams, getAddress),
  circle_createAddressMapping: checked(mappingParams, createMapping),
  circle_getAddressMapping: checked(ownerParams, getMapping),
}
