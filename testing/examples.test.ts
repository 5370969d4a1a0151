import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Program, runProgram, startProgram } from './program.ts'
import { usedDirectory } from './programs.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
let dataDir: string
let program: Program

beforeAll(async () => {
  dataDir = await usedDirectory()
  program = await startProgram({ dataDir, args: ['--chains', 'BASE-SEPOLIA,ETH-SEPOLIA'] })
})
afterAll(async () => {
  program?.signal('SIGTERM', 'process')
  await program?.exited
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

const example = async (name: string) => {
  const env = { ...process.env, BEZANT_URL: program.answer.url }
  const { stdout } = await run(process.execPath, [`examples/${name}`], { cwd: root, env, timeout: 50_000 })
  return stdout
}

describe('the examples run against the started program', () => {
  it('developer-wallets: secret, wallets on two chains, faucet, transfer to COMPLETE, pages', async () => {
    expect(await example('developer-wallets.mjs')).toMatch(
      /is COMPLETE in 0x[\s\S]*the payee holds 1\.25 USDC[\s\S]*one to a page/,
    )
  })

  it('accept-payment: intent, an on-chain payment from an outside key, the payment in the list', async () => {
    expect(await example('accept-payment.mjs')).toMatch(/waits at 0x[\s\S]*12\.34 USD is paid/)
  })

  it('receive-notifications: subscription, its handshake, a signed notification', async () => {
    expect(await example('receive-notifications.mjs')).toMatch(/is confirmed in 2 regions[\s\S]*is active/)
  })

  it('control-transactions: an estimate, a contract call, a signature, an acceleration and a cancellation', async () => {
    expect(await example('control-transactions.mjs')).toMatch(
      /gas\n[\s\S]*is COMPLETE\n[\s\S]*that of the wallet\n[\s\S]*was accelerated and is COMPLETE\n[\s\S]*is CANCELLED/,
    )
  })

  it('undo-a-payment: paid, taken back by a reorg, and paid again', async () => {
    expect(await example('undo-a-payment.mjs')).toMatch(/is paid\n[\s\S]*is pending\n[\s\S]*is paid/)
  })

  it('pay-out: intent, payment, balance, recipient, payout, its receipt on chain, all of it told, and zero gaps', async () => {
    expect(await example('pay-out.mjs')).toMatch(
      /is complete in 0x[\s\S]*the recipient holds 40\.00 USDC on chain/,
    )
    const { stdout } = await runProgram({ dataDir, command: 'reconcile', args: ['--chain', 'BASE-SEPOLIA'] })
    expect(stdout).toContain('zero gaps')
  })
})
