/** The command is run as an operator runs it, beside a worker; the chain tells what it created. */
import { keccak256 } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeHashesOf, newestAccountContracts } from '#chains/evm/accounts/deployed-contracts'
import { sql } from '#runtime/db/db'
import { removeAccountContracts, replaceCode } from '#testing/builders/account-contracts'
import { checkLedger } from '#testing/builders/ledger-checks'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'
import { runCommand } from '#testing/processes/command'

let harness: Harness
let tenant: Tenant
beforeAll(async () => {
  harness = await openHarness()
  tenant = await harness.newEntity()
})
afterAll(() => harness?.close())

const blockchain = 'BASE-SEPOLIA'
const chain = () => harness.ctx.chains.find(blockchain)!
const deployer = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const entryPoint = '0x0000000071727de22e5e9d8baf0edac6f37da032'

function contracts(...args: string[]) {
  const networks = [{ blockchain, rpcUrls: [harness.chain().rpcUrl] }]
  return runCommand({
    command: 'contracts',
    args,
    env: {
      DATABASE_URL: urlOf(harness.connection),
      BEZANT_ROOT_KEY: testRootKey.toString('hex'),
      BEZANT_NETWORKS: JSON.stringify(networks),
    },
  })
}
const deploy = (...args: string[]) => contracts('deploy', '--entity', tenant.entityId, ...args)

const codeHashes = () =>
  Promise.all(
    [...codeHashesOf(newestAccountContracts).keys()].map(async (address) =>
      keccak256(await harness.chain().rpc<`0x${string}`>('eth_getCode', [address, 'latest'])),
    ),
  )
const calls = () =>
  harness.database.all<{ state: string; actor: string }>(
    sql`select t.state, a.actor from account_calls c join transactions t using (entity_id, id)
      join audit a on a.entity_id = c.entity_id and a.resource_id = c.id::text and a.action = 'transaction.initiated'
      where c.entity_id = ${tenant.entityId} and c.purpose = 'contract'`,
  )

describe('bezant contracts', () => {
  it('lists the contracts with the hashes of their code, and the one whose code is another', async () => {
    const listed = await contracts('list', '--json')
    const rows = listed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(listed.code).toBe(0)
    expect(rows.map(({ contract, state }) => `${contract} ${state}`)).toEqual([
      ...['EntryPoint known', 'SenderCreator known', 'deployer known'],
      ...['plugin known', 'implementation known', 'factory known'],
      ...['client plugin known', 'client implementation known', 'client factory known'],
    ])
    for (const { address, codeHash } of rows)
      expect(codeHash).toBe(keccak256(await harness.chain().rpc('eth_getCode', [address, 'latest'])))
    const { restore } = await replaceCode(harness.chain(), entryPoint, '0x00')
    const changed = await contracts('list')
    expect(changed.code).toBe(1)
    expect(changed.stdout).toMatch(/EntryPoint +all +0x0000000071727\w+ +unknown-code +0xbc36789e/)
    await restore()
  })

  it('creates nothing where all exist, on chains of another environment, or without its arguments', async () => {
    expect((await deploy()).code).toBe(0)
    const live = await harness.newEntity('LIVE')
    const refused = await contracts('deploy', '--entity', live.entityId)
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('the entity is of LIVE, and no chosen chain is'),
    ])
    expect((await contracts('deploy')).stderr).toContain('--entity is missing: bezant keys list')
    expect((await contracts('deploy', '--entity', '1')).stderr).toContain('no entity 1')
    expect((await contracts('deploy', '--chain', 'X')).code).toBe(2)
    expect(await calls()).toEqual([])
  })

  it('creates the missing contracts once, when the treasury can pay for them', async () => {
    await removeAccountContracts(harness.chain(), chain())
    const planned = await deploy('--dry-run')
    expect([planned.code, await calls()]).toEqual([0, []])
    expect(planned.stdout.match(/ missing /g)).toHaveLength(3)

    const poor = await deploy('--yes')
    const [, address] =
      /send at least [\d.]+ ETH-SEPOLIA to (0x\w{40}) on BASE-SEPOLIA/.exec(poor.stderr) ?? []
    expect([poor.code, await calls()]).toEqual([1, []])
    await harness.fundWallet(address!, { native: '1' })

    await harness.stopEngines()
    const waiting = await deploy('--yes', '--wait', '0')
    expect(waiting.code).toBe(1)
    expect(waiting.stderr).toContain('check that a worker runs, and repeat the command')
    harness.startEngines()
    const done = await deploy('--yes')
    // Before it waits, the command shows the three that exist; the worker may have created the others by then.
    const known = done.stdout.match(/ known /g)?.length
    expect([done.code, known === 6 || known === 3 + 6]).toEqual([0, true])
    if (known !== 6) expect(done.stderr).toMatch(/BASE-SEPOLIA: (CONFIRMED|COMPLETE) 0x\w{64}\n/)
    expect(await codeHashes()).toEqual([...codeHashesOf(newestAccountContracts).values()])
    expect(await calls()).toHaveLength(3)
    expect(new Set((await calls()).map(({ actor }) => actor))).toEqual(new Set(['operator']))

    const again = await deploy('--json')
    expect([again.code, again.stderr, (await calls()).length]).toEqual([0, '', 3])
    await checkLedger(harness.database)
  })

  it('names the deployer where it is missing, and creates nothing', async () => {
    const { restore } = await replaceCode(harness.chain(), deployer, '0x')
    expect((await deploy()).code).toBe(0)
    await removeAccountContracts(harness.chain(), chain())
    const refused = await deploy('--yes')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(`bezant: BASE-SEPOLIA has no deployer at ${deployer}: send the signed`)
    await restore()
    const other = await replaceCode(harness.chain(), entryPoint, '0x')
    expect((await deploy('--yes')).stderr).toContain(`BASE-SEPOLIA has no EntryPoint at ${entryPoint}`)
    await other.restore()
    expect(await calls()).toHaveLength(3)
    expect((await deploy('--yes')).code).toBe(0)
    expect(await codeHashes()).toEqual([...codeHashesOf(newestAccountContracts).values()])
  })
})
