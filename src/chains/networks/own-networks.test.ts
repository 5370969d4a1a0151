import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { crosschainContractsOf } from '../evm/crosschain/deployed-contracts.ts'
import { unifiedBalanceContractsOf } from '../evm/unified-balance/deployed-contracts.ts'
import { tokenAddress } from '../network.ts'
import type { EvmRow } from './evm-network.ts'
import { furtherEvm } from './further-evm.ts'
import { type Network, networks } from './index.ts'
import { readOwnNetworks } from './own-networks.ts'
import { rowFields } from './row-fields.ts'
import { withoutNode } from './without-node.ts'

const row = {
  blockchain: 'CELO-SEPOLIA',
  environment: 'TEST',
  name: 'Celo-Sepolia',
  chainId: 11_142_220,
  nativeCoin: { name: 'Celo-Sepolia', symbol: 'CELO-SEPOLIA', decimals: 18 },
  usdc: '0x01C5C0122039549AD1493B8220cABEdD739BC44E',
  businessChain: 'CELO',
  confirmations: 3,
  blockTimeMs: 1_000,
}
const crosschain = { domain: 900, fastConfirmations: 1 }
const wrongSum = '0x01c5C0122039549AD1493B8220cABEdD739BC44E'

const read = (...rows: readonly object[]) =>
  readOwnNetworks({ source: '/etc/networks.json', text: JSON.stringify(rows) }, [...networks, ...withoutNode])
const problemOf = (change: object) => read({ ...row, ...change }).problem

it('a network in short has the facts of most, and a local EURC where the issuer has none', () => {
  const { networks: read1, problem } = read(row, {
    ...row,
    ...crosschain,
    blockchain: 'CELO',
    environment: 'LIVE',
    chainId: 42_220,
    eurc: row.usdc.toLowerCase().replace('0x01', '0x02'),
    priorityFloorWei: 25_000_000_000,
    fastFeeBasisPoints: 14,
    feeModel: 'gasPrice',
    contracts: { tokenMinter: row.usdc },
    unifiedBalance: { chain: 'Celo', network: 'Mainnet', contracts: { wallet: row.usdc, minter: row.usdc } },
  })
  expect(problem).toBeUndefined()
  const [test, live] = read1 as readonly Network[]
  expect(test).toMatchObject({ family: 'evm', feeModel: 'eip1559', inFlightMax: 16, startsWhenNamed: true })
  expect(test!.tokens.map(({ symbol, localOnly }) => [symbol, localOnly ?? false])).toEqual([
    ['USDC', false],
    ['EURC', true],
  ])
  expect(tokenAddress(test!.tokens[0]!)).toBe(row.usdc.toLowerCase())
  expect(live).toMatchObject({
    feeModel: 'gasPrice',
    priorityFloorAtomic: 25_000_000_000n,
    fastFeeBasisPoints: 14n,
  })
  const { tokenMinter, tokenMessenger } = crosschainContractsOf(live!)
  expect([tokenMinter, tokenMessenger]).toEqual([
    row.usdc,
    crosschainContractsOf(networks.find(({ blockchain }) => blockchain === 'BASE')!).tokenMessenger,
  ])
  expect(unifiedBalanceContractsOf(live!).minter).toBe(row.usdc)
  const ids = [test!, live!]
    .flatMap(({ nativeToken, tokens }) => [nativeToken, ...tokens])
    .map(({ id }) => id)
  expect(new Set(ids).size).toBe(6)
})

it('USDC that pays for gas is one coin, with its contract', () => {
  const nativeCoin = { name: 'US dollars', symbol: 'USDC', decimals: 18 }
  const { networks: given, problem } = read({ ...row, nativeCoin, usdcIsNative: true })
  expect(problem).toBeUndefined()
  const [network] = given as readonly Network[]
  const { nativeToken, tokens } = network!
  expect(nativeToken).toMatchObject({
    ...nativeCoin,
    contract: { id: nativeToken.id, symbol: 'USDC', decimals: 6, address: row.usdc },
  })
  expect(tokens.map(({ symbol }) => symbol)).toEqual(['EURC'])
})

it('the document has every field, and an example that is read', () => {
  const page = readFileSync('docs/further-networks.md', 'utf8')
  const [, text = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? []
  const given = { source: 'the document', text }
  expect(readOwnNetworks(given, [...networks, ...withoutNode])).toMatchObject({
    networks: [{ blockchain: row.blockchain, chainId: row.chainId }],
  })
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  const documented = rows.flatMap((line) => line.split('|')[1]!.match(/\w+/g) ?? [])
  expect(documented.sort()).toEqual(Object.keys(rowFields).sort())
})

it('the rows that are shipped have the form of a row of an operator, and clash with none', () => {
  for (const shipped of furtherEvm as readonly EvmRow[]) {
    const others = [...networks, ...withoutNode].filter(({ blockchain }) => blockchain !== shipped.blockchain)
    const given = { source: 'shipped', text: JSON.stringify([shipped]) }
    expect(readOwnNetworks(given, others).problem).toBeUndefined()
  }
})

it.each([
  [{ chain: 1 }, /there is no field chain: did you mean name\?|there is no field chain/],
  [{ name: undefined }, /name is missing: give a name of letters/],
  [{ blockchain: 'celo' }, /celo: blockchain must be a code in capital letters .*, not "celo"/],
  [{ blockchain: 'BASE-SEPOLIA' }, /blockchain is the code of another chain already: choose another code/],
  [{ blockchain: 'NEAR' }, /blockchain is the code of another chain already/],
  [{ blockchain: 'BTC' }, /blockchain is the code of another chain already/],
  [{ environment: 'MAIN' }, /environment must be TEST or LIVE, not "MAIN"/],
  [{ chainId: '11142220' }, /chainId must be a whole number from 1 to \d+, not "11142220"/],
  [{ chainId: 84_532 }, /chainId 84532 is that of BASE-SEPOLIA: correct it, or use BASE-SEPOLIA/],
  [{ chainId: 5_042_002 }, /chainId 5042002 is that of ARC-TESTNET/],
  [{ nativeCoin: 'CELO' }, /nativeCoin must be an object/],
  [
    { nativeCoin: { name: 'Celo', symbol: 'CELO' } },
    /nativeCoin\.decimals is missing: give a whole number from 1 to 18/,
  ],
  [
    { nativeCoin: { ...row.nativeCoin, symbol: 'USDC' } },
    /nativeCoin\.symbol USDC is that of a stablecoin, .*: choose another one, such as USDC-GAS/,
  ],
  [
    { environment: 'LIVE', nativeCoin: { ...row.nativeCoin, symbol: 'EURC' } },
    /nativeCoin\.symbol EURC is that of a stablecoin/,
  ],
  [{ usdcIsNative: true }, /nativeCoin must have the symbol USDC and 18 decimals with usdcIsNative/],
  [
    { usdcIsNative: true, nativeCoin: { name: 'USDC', symbol: 'USDC', decimals: 6 } },
    /nativeCoin must have the symbol USDC and 18 decimals/,
  ],
  [{ usdcIsNative: false }, /usdcIsNative must be true, not false/],
  [{ usdc: wrongSum }, /usdc must be the address of a contract: .*checksum of EIP-55, not "0x01c5/],
  [{ usdc: row.usdc.toUpperCase().replace('0X', '0x') }, /usdc must be the address/],
  [{ usdc: `0x${'0'.repeat(40)}` }, /usdc must be the address of a contract/],
  [{ eurc: row.usdc.toLowerCase() }, /eurc is the address of usdc: correct one of them/],
  [{ ...crosschain, domain: 6 }, /domain 6 is that of BASE-SEPOLIA in TEST: correct it, or leave it out/],
  [{ ...crosschain, domain: 9 }, /domain 9 is that of APTOS-TESTNET/],
  [{ ...crosschain, domain: 26 }, /domain 26 is that of ARC-TESTNET/],
  [{ ...crosschain, domain: 2 ** 32 }, /domain must be a whole number from 0 to 4294967295/],
  [{ domain: 900 }, /fastConfirmations is missing: a network with a domain needs it/],
  [{ contracts: {} }, /contracts needs a domain: give it, or leave both out/],
  [{ unifiedBalance: { chain: 'Celo', network: 'Sepolia' } }, /unifiedBalance needs a domain/],
  [
    { ...crosschain, contracts: { tokenMesenger: row.usdc } },
    /no field contracts\.tokenMesenger: did you mean tokenMessenger\?/,
  ],
  [{ ...crosschain, contracts: { tokenMinter: wrongSum } }, /contracts\.tokenMinter must be the address/],
  [
    { ...crosschain, unifiedBalance: { chain: 'a', network: 'b', contracts: { wallet: row.usdc } } },
    /unifiedBalance\.contracts\.minter is missing/,
  ],
  [{ businessChain: 'BASE' }, /businessChain BASE names BASE-SEPOLIA in TEST: choose another code/],
  [{ businessChain: 'XRP' }, /businessChain XRP names a chain whose addresses are not of EVM/],
  [{ confirmations: 0 }, /confirmations must be a whole number from 1 to 100000, not 0/],
  [{ feeModel: 'legacy' }, /feeModel must be eip1559 or gasPrice, not "legacy"/],
  [{ replaceable: true }, /replaceable must be false, not true/],
])('%j is refused with the file, the network, the field and the remedy', (change, reason) => {
  const problem = problemOf(change)
  expect(problem).toMatch(/^\/etc\/networks\.json, (CELO-SEPOLIA|celo|BASE-SEPOLIA|NEAR|BTC): /)
  expect(problem).toMatch(reason)
})

it('two networks of a list clash as a network and a shipped one do', () => {
  const second = { ...row, blockchain: 'OTHER-TESTNET', businessChain: 'OTHER', chainId: 9_000 }
  const problem = (change: object) => read({ ...row, ...crosschain }, { ...second, ...change }).problem
  expect(problem({})).toBeUndefined()
  expect(problem({ blockchain: row.blockchain })).toMatch(
    /^\/etc\/networks\.json, CELO-SEPOLIA: blockchain is the code/,
  )
  expect(problem({ chainId: row.chainId })).toMatch(/chainId 11142220 is that of CELO-SEPOLIA/)
  expect(problem(crosschain)).toMatch(/domain 900 is that of CELO-SEPOLIA in TEST/)
  expect(problem({ businessChain: 'CELO' })).toMatch(/businessChain CELO names CELO-SEPOLIA in TEST/)
})

it('a text that is no list is refused as one, whatever it holds', () => {
  const taken = [...networks, ...withoutNode]
  for (const text of ['', '{', '{}', '7', 'null', JSON.stringify(Array(101).fill(row))])
    expect(readOwnNetworks({ source: 'BEZANT_OWN_NETWORKS', text }, taken)).toEqual({
      networks: [],
      problem: expect.stringMatching(/^BEZANT_OWN_NETWORKS must be a list of at most 100 networks, as JSON/),
    })
  for (const item of [null, 7, 'BASE', []])
    expect(read(item as never).problem).toBe('/etc/networks.json, network 1: each network must be an object')
  expect(readOwnNetworks(undefined, taken)).toEqual({ networks: [] })
  expect(readOwnNetworks({ problem: 'no file' }, taken)).toEqual({ networks: [], problem: 'no file' })
})
