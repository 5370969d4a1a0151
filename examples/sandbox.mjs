// Functions that every example uses. The running sandbox returns its address, its public credentials and its chains.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const { BEZANT_URL = 'http://127.0.0.1:4020' } = process.env

/**
 * An error ends an example with one line; Node would print the client's source and all of the request. Examples import
 * their client after this module, because a client that is not installed is such an error.
 */
process.on('uncaughtException', (error) => {
  console.error(lineOf(error))
  process.exit(1)
})

/** The refused call and the reason, which the two clients keep in different places. */
function lineOf(error) {
  const [, missing] = /^Cannot find package '([^']+)'/.exec(error.message) ?? []
  if (missing) return `This example needs ${missing}, which is not installed: npm install ${missing}`
  const { status, data } = error.response ?? { status: error.status, data: error }
  if (status === undefined) return error.message
  const { method, url } = error.config ?? error
  return `${method.toUpperCase()} ${url} was refused with ${status}, code ${data.code}: ${data.message}`
}

/** `{ url, apiKey, entitySecret, chains }`, as `bezant sandbox --json` prints it. */
export async function findSandbox() {
  const response = await fetch(`${BEZANT_URL}/sandbox`).catch(() => undefined)
  if (response?.ok) return (await response.json()).data
  console.error(
    `No sandbox answers at ${BEZANT_URL}. Start one with "npm start", or set BEZANT_URL to its address.`,
  )
  process.exit(1)
}

/** A chain of the sandbox: `{ blockchain, chainId, rpcUrl, tokens }`. */
export function chainOf({ chains }, blockchain) {
  const chain = chains.find((each) => each.blockchain === blockchain)
  if (!chain) throw new Error(`The sandbox runs without ${blockchain}: start it with that in --chains.`)
  return chain
}

/** Calls a chain's node directly, for example to mine a block or to cause a reorg. */
export async function askNode({ rpcUrl }, method, params = []) {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = await response.json()
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}

/** Sends test coins to any address, without a limit: 20 of each requested token, and 1 of the native coin. */
export async function drip({ url, apiKey }, body) {
  const response = await fetch(`${url}/v1/faucet/drips`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 204)
    throw new Error(`the faucet answered ${response.status} ${await response.text()}`)
}

/** Repeats `read` until it returns a value. */
export async function waitFor(what, read) {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const found = await read()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${what} did not come within 30 seconds`)
}

/** The program and the arguments of a command of `bezant`: from its source where that is, or else from the package. */
export function bezantCommand(args) {
  const at = (path) => fileURLToPath(new URL(path, import.meta.url))
  const source = at('../src/main.ts')
  const program = existsSync(source)
    ? ['--conditions=source', '--import', 'tsx', source]
    : [at('../dist/main.js')]
  return { command: process.execPath, args: [...program, ...args], cwd: at('..') }
}

/** Starts a command of `bezant` against the same sandbox. */
export function startBezant(asked) {
  const { command, args, cwd } = bezantCommand(asked)
  const env = { ...process.env, BEZANT_URL }
  return spawn(command, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] })
}
