import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openAsOwner, sql } from '#runtime/db/db'
import { joinEmbeddedPostgres } from '#sandbox/postgres/join'
import { runCommand } from '#testing/processes/command'
import { type Program, startProgram } from '#testing/processes/program'
import { initializedDirectory } from '#testing/processes/programs'

let dataDir: string
let program: Program
beforeAll(async () => {
  dataDir = await initializedDirectory()
  program = await startProgram({ dataDir, args: ['--chains', 'BASE-SEPOLIA'] })
})
afterAll(async () => {
  program.signal('SIGTERM', 'process')
  await program.exited
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

const run = (args: string[] = []) => runCommand({ dataDir, args, command: 'reconcile' })

it('prints zero gaps for a running platform, and exits with 1 and the account when the books were changed', async () => {
  const proven = await run()
  expect(proven.stdout).toMatch(
    /^BASE-SEPOLIA(?: at block \d+ 0x[0-9a-f]{64}, \d+ address(?:es)?\n {2}TOKEN +ON CHAIN +BOOKS +GAP\n|: nothing on chain or in the books\n)/,
  )
  expect(proven.stdout).toContain('zero gaps')
  expect(proven.code, proven.stderr).toBe(0)

  const owner = openAsOwner(await joinEmbeddedPostgres({ dataDir }))
  await owner.run(sql`insert into accounts (entity_id, id, kind, token_id, blockchain, address, posted, create_date, update_date)
    select gen_random_uuid(), gen_random_uuid(), 'outside', id, blockchain, '', 7, now(), now()
    from tokens where symbol = 'USDC' and blockchain = 'BASE-SEPOLIA'`)
  await owner.close()
  const broken = await run(['--json'])
  expect(broken.code, broken.stderr).toBe(1)
  expect(JSON.parse(broken.stdout)).toMatchObject({
    gaps: 1,
    bookErrors: [{ what: 'a balance is not the sum of its entries and open holds' }],
    chains: [{ blockchain: 'BASE-SEPOLIA', gaps: [] }],
  })
  expect((await run()).stdout).toMatch(/\nBOOKS: .*\n1 gap\n$/)
})

it('exits with 1 and names the merchant when money in a wallet has no coins behind it', async () => {
  const owner = openAsOwner(await joinEmbeddedPostgres({ dataDir }))
  const entityId = randomUUID()
  await owner.tx(async (tx) => {
    const ids = [randomUUID(), randomUUID()]
    await tx.run(sql`insert into accounts (entity_id, id, kind, currency, blockchain, address, create_date, update_date)
      select ${entityId}, i, k, 'USD', '', '1000', now(), now()
      from unnest(${ids}::uuid[], array['wallet', 'settlement']) as n(i, k)`)
    const posting = randomUUID()
    await tx.run(sql`insert into postings (entity_id, id, blockchain, block_hash, fact, create_date)
      values (${entityId}, ${posting}, '', '', 'forged', now())`)
    await tx.run(sql`insert into entries (entity_id, posting_id, account_id, amount, create_date)
      select ${entityId}, ${posting}, i, a, now() from unnest(${ids}::uuid[], array[1500000, -1500000]) as n(i, a)`)
  })
  await owner.close()
  const { code, stdout } = await run()
  expect(stdout).toMatch(
    /\n {2}CURRENCY +COINS +OWED +ARRIVING +UNCLAIMED +ADJUSTED +LEAVING +MOVING +GAP\n {2}USD +0 +1.5 +0 +0 +0 +0 +0 +-1.5\n/,
  )
  expect(stdout).toMatch(new RegExp(`GAP USD: coins 0 .* gap -1.5 \\(entity ${entityId}\\)`))
  expect(code).toBe(1)
})

it('lists the configured chains when another one is requested', async () => {
  const { code, stderr } = await run(['--chain', 'BASE'])
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('--chain must be one of BASE-SEPOLIA, not "BASE"'),
  ])
})
