import { type Abi, decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem'
import type { Hex } from '#lib/hex'
import { canonicalAddress } from '../../addresses/canonical.ts'
import type { Address } from '../../addresses/types.ts'
import type { CrosschainAddresses } from '../../crosschain/crosschain.ts'
import { zeroWord } from '../../crosschain/native-address.ts'
import type { CrosschainTerms, LeftCall } from '../../crosschain/planned-contracts.ts'
import { stablecoinAbi } from '../abi/stablecoin.ts'
import { gatewayMinterAbi } from '../unified-balance/artifacts/gateway-minter.ts'
import { gatewayWalletAbi } from '../unified-balance/artifacts/gateway-wallet.ts'
import { signsForContracts } from '../unified-balance/contract-signatures.ts'
import { messageTransmitterV2Abi } from './artifacts/message-transmitter-v2.ts'
import { tokenMessengerV2Abi } from './artifacts/token-messenger-v2.ts'
import { tokenMessengerWithFeesAbi } from './artifacts/token-messenger-with-fees.ts'
import { tokenMinterV2Abi } from './artifacts/token-minter-v2.ts'

/** Asks a contract. Throws when the node is unreachable. */
export type ReadContract = (to: Address, data: Hex) => Promise<unknown>
type View = (abi: Abi, to: Address, functionName: string, ...args: readonly unknown[]) => Promise<unknown>

/** Asks a view function of a contract. */
export const viewer =
  (read: ReadContract): View =>
  async (abi, to, functionName, ...args) => {
    const data = (await read(to, encodeFunctionData({ abi, functionName, args }))) as Hex
    return decodeFunctionResult({ abi, functionName, data, args })
  }

/** A token with an id, and those that it is on other chains, as words. */
export type FurtherToken = { id: Hex; token: Address; remotes: readonly { domain: number; token: Hex }[] }

type Standing = {
  terms: CrosschainTerms
  addresses: Required<CrosschainAddresses>
  token: Address
  further: readonly FurtherToken[]
  /** How many batches of contracts are done. */
  batches: number
}

const maxUint256 = 2n ** 256n - 1n
const ownableAbi = parseAbi(['function pendingOwner() view returns (address)'])
const canonical = (address: unknown) => canonicalAddress(String(address)) as Address

/** The calls that other accounts have to make: the issuer of the token, and the owner of the contracts. */
export async function leftCalls(read: ReadContract, standing: Standing): Promise<LeftCall[]> {
  const view = viewer(read)
  const found = await Promise.all([
    mintersLeft(view, standing),
    ownersLeft(view, standing),
    ...(standing.batches >= 1 ? [remotesLeft(view, standing), attestersLeft(view, standing)] : []),
    ...(standing.batches >= 2 ? [signersLeft(read, view, standing)] : []),
    ...(standing.batches >= 3
      ? [quoteSignersLeft(view, standing, standing.addresses.tokenMessengerWithFees)]
      : []),
    ...(standing.batches >= 4
      ? [
          quoteSignersLeft(view, standing, standing.addresses.crossChainTokenService),
          ...standing.further.map((each) => furtherLeft(view, standing, each)),
        ]
      : []),
  ])
  return found.flat()
}

/** The token mints for its minters, and lets them alone burn. */
async function mintersLeft(view: View, { addresses, token, terms }: Standing): Promise<LeftCall[]> {
  const wanted = [
    { minter: addresses.tokenMinter, allowance: maxUint256, why: 'mints for messages, and burns' },
    ...(terms.balance
      ? [
          { minter: addresses.wallet, allowance: 0n, why: 'burns unified balances' },
          { minter: addresses.minter, allowance: maxUint256, why: 'mints unified balances' },
        ]
      : []),
  ]
  const by = canonical(await view(stablecoinAbi, token, 'masterMinter'))
  const are = await Promise.all(wanted.map(({ minter }) => view(stablecoinAbi, token, 'isMinter', minter)))
  return wanted
    .filter((_, index) => !are[index])
    .map(({ minter, allowance, why }) => ({
      to: token,
      by,
      signature: 'configureMinter(address,uint256)',
      values: [minter, String(allowance)],
      why,
    }))
}

async function ownersLeft(view: View, { addresses, batches, terms }: Standing): Promise<LeftCall[]> {
  const owned = [
    { to: addresses.tokenMinter, exists: batches >= 1 },
    ...(terms.balance
      ? [addresses.wallet, addresses.minter].map((to) => ({ to, exists: batches >= 2 }))
      : []),
  ]
  const calls = await Promise.all(
    owned.map(async ({ to, exists }) => {
      const by = exists ? canonical(await view(ownableAbi, to, 'pendingOwner')) : terms.owner
      const signature = 'acceptOwnership()'
      return BigInt(by) === 0n ? [] : [{ to, by, signature, values: [], why: 'takes the ownership' }]
    }),
  )
  return calls.flat()
}

async function remotesLeft(view: View, { addresses, token, terms }: Standing): Promise<LeftCall[]> {
  const { tokenMessenger, tokenMinter } = addresses
  const [owner, controller] = await Promise.all([
    view(tokenMessengerV2Abi, tokenMessenger, 'owner'),
    view(tokenMinterV2Abi, tokenMinter, 'tokenController'),
  ])
  const calls = await Promise.all(
    terms.remotes.map(async ({ domain, ...remote }): Promise<LeftCall[]> => {
      const [messenger, local] = await Promise.all([
        view(tokenMessengerV2Abi, tokenMessenger, 'remoteTokenMessengers', domain),
        view(tokenMinterV2Abi, tokenMinter, 'getLocalToken', domain, remote.token),
      ])
      const why = `links domain ${domain}`
      const add = {
        to: tokenMessenger,
        by: canonical(owner),
        why,
        signature: 'addRemoteTokenMessenger(uint32,bytes32)',
        values: [String(domain), remote.tokenMessenger],
      }
      const link = {
        to: tokenMinter,
        by: canonical(controller),
        why,
        signature: 'linkTokenPair(address,uint32,bytes32)',
        values: [token, String(domain), remote.token],
      }
      return [...(messenger === zeroWord ? [add] : []), ...(BigInt(String(local)) === 0n ? [link] : [])]
    }),
  )
  return calls.flat()
}

async function attestersLeft(view: View, { addresses, terms }: Standing): Promise<LeftCall[]> {
  const to = addresses.messageTransmitter
  const ask = (functionName: string, ...args: readonly unknown[]) =>
    view(messageTransmitterV2Abi, to, functionName, ...args)
  const [by, threshold, ...enabled] = await Promise.all([
    ask('attesterManager'),
    ask('signatureThreshold'),
    ...terms.attesters.map((attester) => ask('isEnabledAttester', attester)),
  ])
  const missing = terms.attesters.filter((_, index) => !enabled[index])
  const of = (signature: string, value: string, why: string): LeftCall => {
    return { to, by: canonical(by), signature, values: [value], why }
  }
  return [
    ...missing.map((attester) => of('enableAttester(address)', attester, 'lets its signatures count')),
    ...(threshold === terms.signatureThreshold
      ? []
      : [
          of(
            'setSignatureThreshold(uint256)',
            String(terms.signatureThreshold),
            `asks for as many signatures, instead of ${threshold}`,
          ),
        ]),
  ]
}

async function signersLeft(
  read: ReadContract,
  view: View,
  { addresses, terms }: Standing,
): Promise<LeftCall[]> {
  const signer = terms.balance?.signer
  if (signer === undefined) return []
  const { wallet, minter } = addresses
  const [burns, vouches, attests, walletOwner, minterOwner] = await Promise.all([
    view(gatewayWalletAbi, wallet, 'isBurnSigner', signer),
    signsForContracts(read, wallet, signer),
    view(gatewayMinterAbi, minter, 'isAttestationSigner', signer),
    view(gatewayWalletAbi, wallet, 'owner'),
    view(gatewayMinterAbi, minter, 'owner'),
  ])
  const why = 'lets its signatures count'
  const add = (to: Address, owner: unknown, signature: string, reason = why): LeftCall => {
    return { to, by: canonical(owner), signature, values: [signer], why: reason }
  }
  return [
    ...(burns ? [] : [add(wallet, walletOwner, 'addBurnSigner(address)')]),
    ...(vouches
      ? []
      : [
          add(
            wallet,
            walletOwner,
            'addContractSignatureSigner(address)',
            'lets it sign for contracts; a wallet contract of an earlier version has to be upgraded first',
          ),
        ]),
    ...(attests ? [] : [add(minter, minterOwner, 'addAttestationSigner(address)')]),
  ]
}

/** The calls that let the token service move a token: its issuer lets the minter mint, the controller of that limits burns and links chains. */
async function furtherLeft(
  view: View,
  { addresses: { tokenMinter }, terms }: Standing,
  { token, remotes }: FurtherToken,
): Promise<LeftCall[]> {
  const [issuer, mints, controller, limit] = await Promise.all([
    view(stablecoinAbi, token, 'masterMinter'),
    view(stablecoinAbi, token, 'isMinter', tokenMinter),
    view(tokenMinterV2Abi, tokenMinter, 'tokenController'),
    view(tokenMinterV2Abi, tokenMinter, 'burnLimitsPerMessage', token),
  ])
  const minting = {
    to: token,
    by: canonical(issuer),
    signature: 'configureMinter(address,uint256)',
    values: [tokenMinter, String(maxUint256)],
    why: 'mints for messages, and burns',
  }
  const controls = { to: tokenMinter, by: canonical(controller) }
  const limiting = {
    ...controls,
    signature: 'setMaxBurnAmountPerMessage(address,uint256)',
    values: [token, String(terms.burnLimitAtomic)],
    why: 'lets messages burn the token',
  }
  const links = await Promise.all(
    remotes.map(async ({ domain, token: remote }): Promise<LeftCall[]> => {
      const local = await view(tokenMinterV2Abi, tokenMinter, 'getLocalToken', domain, remote)
      const values = [token, String(domain), remote]
      const signature = 'linkTokenPair(address,uint32,bytes32)'
      return BigInt(String(local)) === 0n
        ? [{ ...controls, signature, values, why: `links domain ${domain}` }]
        : []
    }),
  )
  return [...(mints ? [] : [minting]), ...(limit === 0n ? [limiting] : []), ...links.flat()]
}

async function quoteSignersLeft(
  view: View,
  { terms: { quoteSigner } }: Standing,
  to: Address,
): Promise<LeftCall[]> {
  if (quoteSigner === undefined) return []
  const [counts, owner] = await Promise.all([
    view(tokenMessengerWithFeesAbi, to, 'isQuoteSigner', quoteSigner),
    view(tokenMessengerWithFeesAbi, to, 'owner'),
  ])
  if (counts) return []
  const why = 'lets its quotes count'
  return [{ to, by: canonical(owner), signature: 'addQuoteSigner(address)', values: [quoteSigner], why }]
}
