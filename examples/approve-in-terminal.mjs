// A terminal in place of the page of users: it shows what an app asks for, reads the PIN and approves. A mobile app does the
// same. Here the script is the app as well: it makes a user, who sets a PIN, gets a wallet, pays and signs a message.
//
//   npm start -- --chains BASE-SEPOLIA          in one terminal; omit --chains to start all
//   node examples/approve-in-terminal.mjs       in another
import { createCipheriv, randomBytes, randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { chainOf, drip, findSandbox, waitFor } from './sandbox.mjs'

const { initiateUserControlledWalletsClient } = await import('@circle-fin/user-controlled-wallets')
const sandbox = await findSandbox()
const { blockchain } = chainOf(sandbox, 'BASE-SEPOLIA')
const app = initiateUserControlledWalletsClient({ apiKey: sandbox.apiKey, baseUrl: sandbox.url })
const lines = createInterface({ input: process.stdin, output: process.stdout })[Symbol.asyncIterator]()

const userId = `user-${randomUUID()}`
await app.createUser({ userId })
const session = (await app.createUserToken({ userId })).data
const { userToken } = session

const first = (await app.createUserPinWithWallets({ userToken, blockchains: [blockchain] })).data
await approve(first.challengeId)
const [wallet] = (await app.listWallets({ userToken })).data.wallets
console.log(`the wallet is ${wallet.address}`)

await drip(sandbox, { address: wallet.address, blockchain, usdc: true, native: true })
const { token } = await waitFor('the faucet', async () => {
  const { tokenBalances } = (await app.getWalletTokenBalance({ userToken, walletId: wallet.id })).data
  return tokenBalances.find(({ token }) => token.symbol === 'USDC')
})
const destinationAddress = `0x${randomBytes(20).toString('hex')}`
const transfer = { walletId: wallet.id, tokenId: token.id, destinationAddress, amounts: ['1.25'] }
const fee = { type: 'level', config: { feeLevel: 'MEDIUM' } }
const payment = (await app.createTransaction({ userToken, ...transfer, fee })).data
const { challenge } = await approve(payment.challengeId)
await waitFor('the payment', async () => {
  const { transaction } = (await app.getTransaction({ userToken, id: challenge.correlationIds[0] })).data
  return transaction.state === 'COMPLETE'
})
console.log('the payment is COMPLETE')

const asked = (await app.signMessage({ userToken, walletId: wallet.id, message: 'hello' })).data
const { result } = await approve(asked.challengeId)
console.log(`the signature is ${result.signature}`)
process.exit(0)

/** Shows a challenge, asks for what it needs, and approves it; a wrong PIN is asked for again. */
async function approve(challengeId) {
  for (;;) {
    const { user, needs, summary, challenge } = await ask('GET', challengeId)
    console.log(`\n${challenge.type}`)
    for (const { label, value } of summary.details) console.log(`  ${label}: ${printable(value)}`)
    for (const { text } of summary.warnings) console.log(`  WARNING: ${text}`)
    const submission = seal(['bezant submission 1', user.id, challengeId, needs], await fieldsFor(needs))
    try {
      return await ask('POST', `${challengeId}/approval`, { purpose: needs, submission })
    } catch (error) {
      if (error.code !== 155112) throw error
      console.log(error.message)
    }
  }
}

/** The fields of each purpose that this client knows, as kind and text. */
async function fieldsFor(purpose) {
  if (purpose === 'open') return [['P', await read('PIN')]]
  if (purpose !== 'setPin') throw new Error(`this client cannot ${purpose}`)
  return [
    ['N', await read('new PIN')],
    ['Q', 'What was the name of your first pet?'],
    ['A', await read('What was the name of your first pet?')],
    ['Q', 'In what city were you born?'],
    ['A', await read('In what city were you born?')],
  ]
}

async function read(question) {
  process.stdout.write(`${question}: `)
  const { value, done } = await lines.next()
  if (done) throw new Error('the input has ended')
  return value.trim()
}

/** Escapes what could move the cursor: messages and names are chosen by others. */
function printable(text) {
  return text.replaceAll(
    /[^\n\P{C}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Encrypts fields to the session: version, nonce, AES-256-GCM and tag. */
function seal(bound, fields) {
  const plain = Buffer.concat(
    fields.flatMap(([kind, text]) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(text))
      return [Buffer.from(kind), length, Buffer.from(text)]
    }),
  )
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(session.encryptionKey, 'base64'), nonce)
  cipher.setAAD(Buffer.from(bound.join('\n')))
  const sealed = [cipher.update(plain), cipher.final()]
  plain.fill(0)
  return Buffer.concat([Buffer.of(1), nonce, ...sealed, cipher.getAuthTag()]).toString('base64')
}

/** A request of the page: the token of the user is its permission. */
async function ask(method, path, body) {
  const response = await fetch(`${sandbox.challengeUrl}/page/challenges/${path}`, {
    method,
    headers: { 'X-User-Token': userToken, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const { data, code, message } = await response.json()
  if (!response.ok) throw Object.assign(new Error(message), { code })
  return data
}
