/** The contracts are created on chains without them, by the command and a worker, and move coins between these chains. */
import { encodeFunctionData, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { finalizedThreshold } from '#chains/crosschain/message'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { messageTransmitterV2Abi } from '#chains/evm/crosschain/artifacts/message-transmitter-v2'
import { tokenMessengerV2Abi } from '#chains/evm/crosschain/artifacts/token-messenger-v2'
import { crosschainContracts } from '#chains/evm/crosschain/deployed-contracts'
import { unifiedBalanceContracts } from '#chains/evm/unified-balance/deployed-contracts'
import { stablecoinNamed } from '#chains/network'
import { arcTestnet } from '#chains/networks/arc-testnet'
import { openContext, startEngines } from '#context'
import { sql } from '#runtime/db/db'
import { devAccounts } from '#sandbox/constants'
import { burner, crosschainMessages, domainOf, type Hex, sendCall, wordOf } from '#testing/builders/burns'
import { freshAddress } from '#testing/builders/world'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { testLog } from '#testing/platform/log'
import { runCommand } from '#testing/processes/command'

let harness: Harness
let base: TestChain
let avalanche: TestChain
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
  const placed = { ...crosschainContracts.TEST, ...unifiedBalanceContracts('TEST') }
  for (const chain of [base, avalanche])
    for (const address of Object.values(placed)) await chain.rpc('anvil_setCode', [address, '0x'])
})
afterAll(() => harness?.close())

const owner = devAccounts[4]!.address as Hex

type LeftCall = { to: string; by: string; signature: string; values: string[] }
type Shown = {
  chain: string
  payer: string
  calls: { name: string; state: string }[]
  left: LeftCall[]
  setting: { blockchain: string; crosschain: Record<string, Hex> }
}

/** Chains that the configuration names later, besides those of the harness. */
const joined: { blockchain: string; rpcUrl: string }[] = []

const run = (...args: string[]) =>
  runCommand({
    command: 'contracts',
    args: ['deploy-crosschain', ...args],
    env: {
      DATABASE_URL: urlOf(harness.connection),
      BEZANT_ROOT_KEY: testRootKey.toString('hex'),
      BEZANT_NETWORKS: JSON.stringify(
        [...harness.chains, ...joined].map(({ blockchain, rpcUrl }) => ({ blockchain, rpcUrl })),
      ),
    },
  })
const deploy = (...args: string[]) => run('--entity', harness.entityId, '--owner', owner, ...args)
const shownOf = (stdout: string): Shown[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

const callCount = async () =>
  (await harness.database.all(sql`select 1 from account_calls where entity_id = ${harness.entityId}`)).length

/** Makes a call that the command left to another account. */
async function make(chain: TestChain, { to, by, signature, values }: LeftCall): Promise<boolean> {
  const [name] = signature.split('(')
  const abi = parseAbi([`function ${signature}` as string])
  const data = encodeFunctionData({ abi, functionName: name!, args: values } as never)
  await chain.rpc('anvil_setBalance', [by, '0xde0b6b3a7640000'])
  await chain.rpc('anvil_impersonateAccount', [by])
  return (await sendCall(chain, to, data, by)).ok
}

it('says which argument is missing or wrong', async () => {
  expect((await run('--entity', harness.entityId)).stderr).toContain('--owner is missing')
  expect((await deploy('--threshold', '2')).code).toBe(2)
  expect((await deploy('--attesters', '0x12')).stderr).toContain('must be an address of BASE-SEPOLIA')
  expect((await deploy('--remotes', '7:0x1')).stderr).toContain('DOMAIN:TOKEN-MESSENGER:TOKEN')
})

it('the contracts are created once, connected, and left to their owner; coins move through them', async () => {
  const planned = await deploy('--dry-run', '--json')
  expect([planned.code, await callCount()]).toEqual([0, 0])
  const plans = shownOf(planned.stdout)
  expect(plans.map(({ calls }) => calls.map(({ state }) => state))).toEqual(
    [base, avalanche].map(() => ['missing', 'missing', 'missing', 'missing', 'missing']),
  )
  const poor = await deploy('--yes')
  expect([poor.code, await callCount()]).toEqual([1, 0])
  expect(poor.stderr).toContain('send at least')
  for (const { chain: blockchain, payer } of plans)
    await harness.fundWallet(payer, { native: '5', blockchain })

  await harness.stopEngines()
  expect((await deploy('--yes', '--wait', '0')).stderr).toContain('repeat the command')
  harness.startEngines()
  const done = await deploy('--yes', '--json')
  expect([done.code, await callCount()], done.stderr).toEqual([0, 10])
  const created = shownOf(done.stdout)
  // As planned, and the same on both chains.
  expect(created.map(({ setting }) => setting)).toEqual(plans.map(({ setting }) => setting))
  expect(created[0]!.setting.crosschain).toEqual(created[1]!.setting.crosschain)
  for (const [index, { left }] of created.entries()) {
    expect(left.map(({ signature }) => signature)).toEqual([
      ...['configureMinter(address,uint256)', 'configureMinter(address,uint256)'],
      ...['configureMinter(address,uint256)', 'acceptOwnership()', 'acceptOwnership()', 'acceptOwnership()'],
      ...['configureMinter(address,uint256)', 'setMaxBurnAmountPerMessage(address,uint256)'],
      'linkTokenPair(address,uint32,bytes32)',
    ])
    for (const call of left) expect(await make(harness.chains[index]!, call)).toBe(true)
  }
  const again = await deploy('--json')
  expect([again.code, await callCount(), shownOf(again.stdout).map(({ left }) => left)]).toEqual([
    0,
    10,
    [[], []],
  ])
  const wider = await deploy('--json', '--attesters', owner, '--remotes', `19:${owner}:${owner}`)
  expect(shownOf(wider.stdout)[0]!.left.map(({ signature }) => signature)).toEqual([
    ...['addRemoteTokenMessenger(uint32,bytes32)', 'linkTokenPair(address,uint32,bytes32)'],
    'enableAttester(address)',
  ])
  // One whose native coin is the one that messages move.
  joined.push({ blockchain: 'ARC-TESTNET', rpcUrl: base.rpcUrl })
  const linked = await deploy('--json', '--chain', 'BASE-SEPOLIA')
  expect(shownOf(linked.stdout)[0]!.left.map(({ signature, values }) => [signature, values.at(-1)])).toEqual([
    ['addRemoteTokenMessenger(uint32,bytes32)', wordOf(created[0]!.setting.crosschain['tokenMessenger']!)],
    ['linkTokenPair(address,uint32,bytes32)', wordOf(`0x36${'0'.repeat(38)}`)],
    ['linkTokenPair(address,uint32,bytes32)', wordOf(stablecoinNamed(arcTestnet, 'EURC')!.address)],
  ])
  joined.pop()

  await harness.stopEngines()
  const contracts = created[0]!.setting.crosschain
  await moveCoins(contracts['tokenMessenger']!, contracts['messageTransmitter']!, contracts)
})

const coins = ['USDC', 'EURC'] as const

/** A platform whose configuration names the new contracts attests a burn of one chain, which mints on the other. */
async function moveCoins(messenger: Hex, transmitter: Hex, crosschain: Record<string, Hex>): Promise<void> {
  const { ctx, close } = await openContext({
    config: harness.ctx.config,
    log: testLog('error'),
    connection: harness.connection,
    rootKey: testRootKey,
    nodes: harness.chains.map(({ blockchain, rpcUrl }) => ({
      blockchain,
      rpcUrl,
      local: true,
      crosschain: crosschain as never,
    })),
    clock: harness.clock,
  })
  const engines = startEngines(ctx)
  try {
    for (const coin of coins) {
      const to = freshAddress() as Hex
      const token = base.tokens[coin] as Hex
      await base.send(burner, 7_000_000n, coin)
      const approve = { abi: stablecoinAbi, functionName: 'approve', args: [messenger, 7_000_000n] } as const
      expect((await sendCall(base, token, encodeFunctionData(approve))).ok).toBe(true)
      const zero = wordOf('0x0')
      const burn = encodeFunctionData({
        abi: tokenMessengerV2Abi,
        functionName: 'depositForBurn',
        args: [7_000_000n, domainOf(avalanche), wordOf(to), token, zero, 0n, finalizedThreshold],
      })
      const { hash, ok } = await sendCall(base, messenger, burn)
      expect(ok).toBe(true)
      const { message, attestation } = await crosschainMessages(harness).attested(base, hash)
      const mint = encodeFunctionData({
        abi: messageTransmitterV2Abi,
        functionName: 'receiveMessage',
        args: [message, attestation],
      })
      expect((await sendCall(avalanche, transmitter, mint)).ok).toBe(true)
      expect(await avalanche.oracle.balanceOf(to, avalanche.tokens[coin])).toBe(7_000_000n)
      expect((await sendCall(avalanche, transmitter, mint)).ok).toBe(false)
    }
  } finally {
    await engines.stop()
    await close()
  }
}
