/** `bezant attest` as an operator sets it up: a process with a database, a root key and nodes of its own. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { crosschainContracts } from '#chains/evm/crosschain/deployed-contracts'
import { sql } from '#runtime/db/db'
import { manageAttesters, restartWith } from '#testing/builders/attesters'
import { crosschainMessages, type Hex } from '#testing/builders/burns'
import { freshAddress } from '#testing/builders/world'
import { cloneDatabase } from '#testing/databases/database'
import { urlOf } from '#testing/databases/database-clone'
import { followedMining } from '#testing/nodes/followed-mining'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { mineUntil, until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { spawnProgram } from '#testing/processes/program'

let harness: Harness
let dataDir: string
let drop: () => Promise<void>
let env: Record<string, string>
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  dataDir = await mkdtemp(join(tmpdir(), 'bezant-attest-'))
  const clone = await cloneDatabase('empty')
  drop = clone.drop
  const { messageTransmitter, tokenMessenger, tokenMinter } = crosschainContracts.TEST
  const crosschain = { messageTransmitter, tokenMessenger, tokenMinter }
  env = {
    DATABASE_URL: urlOf(clone.connection),
    BEZANT_ROOT_KEY: randomBytes(32).toString('hex'),
    BEZANT_CROSSCHAIN_ENVIRONMENT: 'TEST',
    BEZANT_NETWORKS: JSON.stringify(
      harness.chains.map(({ blockchain, rpcUrl }) => ({ blockchain, rpcUrl, crosschain })),
    ),
  }
})
afterAll(async () => {
  await harness?.close()
  await drop?.()
  await rm(dataDir, { recursive: true, force: true })
})

const bezant = async (command: string, ...args: string[]) => {
  const { code, stdout, stderr } = await runCommand({ dataDir, command, args: [...args, '--json'], env })
  expect([command, code, stderr.replaceAll(/^The API key is shown.*\n/gm, '')]).toEqual([command, 0, ''])
  return JSON.parse(stdout)
}

it('needs a database of its own, and not that of the sandbox on its directory', async () => {
  const refused = await runCommand({ dataDir, command: 'attest' })
  expect([refused.code, refused.stderr]).toEqual([
    2,
    'bezant: an attester needs a database of its own: set DATABASE_URL\n',
  ])
})

it('property 93: a process of its own signs a burn when its own nodes call it final', async () => {
  const { address, publicKey } = await bezant('attestation-keys', 'create', '--purpose', 'message')
  expect(publicKey).toMatch(/^0x04[0-9a-f]{128}$/)
  const { apiKey: token } = await bezant('keys', 'create-entity', '--name', 'platform')
  const attester = await spawnProgram({ dataDir, command: 'attest', args: ['--port', '0'], env })
  harness.atClose(async () => {
    attester.child.kill('SIGTERM')
    await attester.exited
  })
  const ready = () => /^\{.*"role":"attester","url":"([^"]+)".*"msg":"ready"\}$/m.exec(attester.stderr())
  await until(() => ready() !== null || attester.child.exitCode !== null, `it is ready: ${attester.stderr()}`)
  const url = ready()![1]!
  const stranger = httpAs(url, undefined)
  await until(async () => (await stranger('GET', '/ready')).status === 200, 'it follows the chains')
  expect((await stranger('POST', '/signatures', { body: {} })).status).toBe(401)
  expect((await httpAs(url, token)('POST', '/signatures', { body: {} })).status).toBe(400)
  expect((await httpAs(url, token)('GET', '/v1/w3s/wallets')).status).toBe(404)

  for (const chain of harness.chains) {
    await manageAttesters(chain, 'enableAttester', address)
    await manageAttesters(chain, 'setSignatureThreshold', 2n)
  }
  const attesters = [{ publicKey, service: { url, token } }]
  await restartWith(harness, { attesters, attestationThreshold: 2 })
  const messages = crosschainMessages(harness)
  const [base, avalanche] = [harness.chain('BASE-SEPOLIA'), harness.chain('AVAX-FUJI')]
  const to = freshAddress() as Hex
  const hash = await messages.burn(base, avalanche, { to })
  // The platform takes the block of a local chain for final at once, and the attester waits for 64 more.
  await until(
    async () =>
      (await harness.database.maybe(sql`select from message_signatures s
        where s.attester = ${address} and s.signature is null and s.tries > 1`)) !== undefined,
    'the attester was asked and did not sign',
  )
  await mineUntil(
    followedMining(harness, base),
    async () => (await messages.find(base, hash)).body.messages[0].status === 'complete',
    'the attester calls the block final',
  )
  const message = await messages.attested(base, hash)
  expect((await messages.deliver(avalanche, message)).ok).toBe(true)
  expect(await messages.usdcOf(avalanche, to)).toBe(10_000_000n)
  attester.child.kill('SIGTERM')
  expect(await attester.exited).toEqual({ code: 0, signal: null })
})
