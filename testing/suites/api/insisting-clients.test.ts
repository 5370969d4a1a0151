import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sandboxEntity, sandboxKeyId, sandboxKeySecret } from '#sandbox/credentials'
import { runCommand } from '#testing/processes/command'
import { type Program, startProgram } from '#testing/processes/program'
import { initializedDirectory } from '#testing/processes/programs'
import { root } from '#testing/runner/root'

// Clients that check a key and an address before they send anything.

/** The forms of a key that `@circle-fin/adapter-circle-wallets` 1.3.0 accepts; its index.mjs has them. */
const prefixedKey = /^(?:TEST|LIVE|SMOK|SAND)_API_KEY:[a-z0-9]+:[a-z0-9]+$/
const base64Key = /^(?:[0-9a-zA-Z+/]{4})*(?:[0-9a-zA-Z+/]{2}==|[0-9a-zA-Z+/]{3}=)?$/

const args = ['--chains', 'BASE-SEPOLIA', '--tls']

let dataDir: string
let program: Program
beforeAll(async () => {
  dataDir = await initializedDirectory()
  program = await startProgram({ dataDir, args })
})
afterAll(async () => {
  await program?.killAll()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

const run = promisify(execFile)

/** The output of a program of its own, which trusts `certificate` as its user told it to. */
async function runScript(script: string, certificate: string | undefined): Promise<unknown> {
  const env = { ...process.env, ...(certificate && { NODE_EXTRA_CA_CERTS: certificate }) }
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: root, env })
  return JSON.parse(stdout)
}

const statusesOf = (urls: readonly string[], keys: readonly string[]) => `
  const answers = []
  for (const url of ${JSON.stringify(urls)}) for (const key of ${JSON.stringify(keys)}) {
    const answer = await fetch(url, { headers: { authorization: 'Bearer ' + key } }).catch((error) => ({ status: error.cause.code, headers: new Headers() }))
    answers.push([answer.status, answer.headers.get('strict-transport-security')])
  }
  console.log(JSON.stringify(answers))`

it('keys have the published form; their base64 form and the ids with hyphens of earlier versions are valid too', async () => {
  const made = ['create', '--json', '--entity', sandboxEntity.id]
  const { stdout } = await runCommand({ dataDir, command: 'keys', args: made })
  const created: string = JSON.parse(stdout).apiKey
  const { apiKey, url, certificate } = program.answer
  expect([created, apiKey]).toEqual([expect.stringMatching(prefixedKey), expect.stringMatching(prefixedKey)])
  const encoded = Buffer.from(created).toString('base64')
  expect(encoded).toMatch(base64Key)
  const earlier = `TEST_API_KEY:${sandboxKeyId}:${sandboxKeySecret}`
  const accepted = [created, encoded, apiKey, Buffer.from(apiKey).toString('base64'), earlier]
  const refused = [
    created.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    Buffer.from(`${created}:x`).toString('base64'),
    Buffer.from(created.replace('TEST', 'LIVE')).toString('base64'),
    Buffer.from(encoded).toString('base64'),
  ]
  const script = statusesOf([`${url}/v1/w3s/walletSets`], [...accepted, ...refused])
  expect(await runScript(script, certificate)).toEqual([
    ...accepted.map(() => [200, null]),
    ...refused.map(() => [401, null]),
  ])
})

it('a sandbox with --tls serves https with a certificate that Node trusts once it is told to', async () => {
  const { url, console, docs, challengeUrl, certificate } = program.answer
  for (const each of [url, console, docs, challengeUrl]) expect(each).toMatch(/^https:\/\/127\.0\.0\.1:/)
  // Another name of the same machine; no header may bind all of localhost to https.
  const urls = [`${url}/ping`, `${url.replace('127.0.0.1', 'localhost')}/ping`, console, docs, challengeUrl]
  expect(await runScript(statusesOf(urls, ['']), certificate)).toEqual(urls.map(() => [200, null]))
  expect(await runScript(statusesOf([`${url}/ping`], ['']), undefined)).toEqual([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', null],
  ])
  // The private key is its owner's alone.
  expect(statSync(certificate!.replace('certificate', 'server')).mode & 0o077).toBe(0)
})

it('an inbox of a sandbox with --tls receives the messages of both lines', async () => {
  const { url, certificate } = program.answer
  const script = `
    const ask = async (path, body) => {
      const sent = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      return (await (await fetch('${url}/sandbox/catcher/shop' + path, sent)).json()).data
    }
    const made = [await ask('/subscriptions', { line: 'v1' }), await ask('/subscriptions', { line: 'v2' })]
    const caught = await ask('/messages')
    console.log(JSON.stringify([
      made.map(({ isConfirmed }) => isConfirmed),
      caught.map(({ method, signature }) => method + ' ' + signature.state),
    ]))`
  expect(await runScript(script, certificate)).toEqual([
    [true, true],
    ['POST valid', 'HEAD absent', 'POST valid', 'POST valid', 'HEAD absent'],
  ])
})

it('the calls of adapter-circle-wallets work by address over https, before and after a restart', async () => {
  const before = program.answer.certificate!
  const kept = statSync(before).mtimeMs
  const callsOf = ({ url, apiKey, entitySecret }: Program['answer']) => `
    import { initiateDeveloperControlledWalletsClient } from 'developer-controlled-wallets-10-8'
    const given = { apiKey: ${JSON.stringify(Buffer.from(apiKey).toString('base64'))}, entitySecret: '${entitySecret}', baseUrl: '${url}' }
    const client = initiateDeveloperControlledWalletsClient(given)
    const set = (await client.createWalletSet({ name: 'Adapter' })).data.walletSet
    const blockchain = 'BASE-SEPOLIA'
    const made = await client.createWallets({ walletSetId: set.id, blockchains: [blockchain], count: 1 })
    const { id, address } = made.data.wallets[0]
    const found = await client.listWallets({ address, blockchain })
    const data = JSON.stringify({ domain: { name: 'Test' }, types: { EIP712Domain: [{ name: 'name', type: 'string' }], Note: [{ name: 'text', type: 'string' }] }, primaryType: 'Note', message: { text: 'hello' } })
    const signed = await client.signTypedData({ walletAddress: address, blockchain, data })
    console.log(JSON.stringify([found.data.wallets[0].id === id, signed.data.signature.length]))`
  expect(await runScript(callsOf(program.answer), before)).toEqual([true, 132])
  await program.killAll()
  program = await startProgram({ dataDir, args })
  expect(program.answer.certificate).toBe(before)
  expect(statSync(before).mtimeMs).toBe(kept)
  expect(await runScript(callsOf(program.answer), before)).toEqual([true, 132])
})
