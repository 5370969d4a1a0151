import { randomUUID } from 'node:crypto'
import { requireEqual, requireThat } from '../caller.ts'
import type { CheckGroup } from '../world.ts'

const makeSet = 'POST /v1/w3s/developer/walletSets'

export const developerWallets: CheckGroup = {
  name: 'wallets',
  checks: [
    {
      about: 'makes a wallet set once for an idempotency key, also when it is asked at the same time',
      needs: 'entity secret',
      run: async ({ done, seal }) => {
        const body = { idempotencyKey: randomUUID(), name: 'Conformance, once' }
        const ciphertexts = await Promise.all([seal(), seal(), seal()])
        const made = await Promise.all(
          ciphertexts.map((entitySecretCiphertext) =>
            done(makeSet, { body: { ...body, entitySecretCiphertext } }),
          ),
        )
        requireThat(
          new Set(made.map(({ walletSet }) => walletSet.id)).size === 1,
          'three requests with one key made several sets',
        )
      },
    },
    {
      about: 'refuses an idempotency key that another request has used',
      needs: 'entity secret',
      run: async ({ done, refused, seal }) => {
        const idempotencyKey = randomUUID()
        const bodyOf = async (name: string) => ({
          idempotencyKey,
          name,
          entitySecretCiphertext: await seal(),
        })
        await done(makeSet, { body: await bodyOf('Conformance, one') })
        await refused(makeSet, 'idempotencyKeyReused', { body: await bodyOf('Conformance, other') })
      },
    },
    {
      about: 'refuses a request without an idempotency key, and with one that is no UUID',
      needs: 'entity secret',
      run: async ({ refused, seal }) => {
        for (const key of [{}, { idempotencyKey: 'seven' }])
          await refused(makeSet, 'invalidRequest', {
            body: { ...key, name: 'None', entitySecretCiphertext: await seal() },
          })
      },
    },
    {
      about: 'takes a ciphertext of the entity secret once',
      needs: 'entity secret',
      run: async ({ done, refused, seal }) => {
        const entitySecretCiphertext = await seal()
        const body = () => ({
          idempotencyKey: randomUUID(),
          name: 'Conformance, sealed',
          entitySecretCiphertext,
        })
        await done(makeSet, { body: body() })
        await refused(makeSet, 'ciphertextReused', { body: body() })
      },
    },
    {
      about: 'refuses a ciphertext of something else',
      run: async ({ refused }) => {
        const entitySecretCiphertext = Buffer.alloc(512, 7).toString('base64')
        const body = { idempotencyKey: randomUUID(), name: 'None', entitySecretCiphertext }
        await refused(makeSet, ['entitySecretWrong', 'entitySecretMissing'], { body })
      },
    },
    {
      about: 'makes wallets with addresses of their own, which are live and carry their metadata',
      needs: 'entity secret',
      run: async ({ wallets, done, blockchain }) => {
        const [first, second] = await wallets()
        requireThat(first.address !== second.address, 'two wallets have one address')
        const { wallet } = await done('GET /v1/w3s/wallets/{id}', { params: { id: first.id } })
        requireEqual(wallet.state, 'LIVE', 'state')
        requireEqual(wallet.custodyType, 'DEVELOPER', 'custodyType')
        requireEqual(wallet.blockchain, blockchain, 'blockchain')
        requireEqual(wallet.address, first.address, 'address')
        requireEqual(wallet.name, 'First', 'name')
      },
    },
    {
      about: 'finds wallets by set, blockchain, address and refId',
      needs: 'entity secret',
      run: async ({ wallets, done, blockchain }) => {
        const [first, second] = await wallets()
        const found = async (query: Record<string, string>) =>
          ((await done('GET /v1/w3s/wallets', { query })).wallets as { id: string }[])
            .map(({ id }) => id)
            .sort()
        requireEqual(await found({ walletSetId: first.walletSetId }), [first.id, second.id].sort(), 'the set')
        requireEqual(await found({ address: first.address, blockchain }), [first.id], 'the address')
        const { refId } = (await done('GET /v1/w3s/wallets/{id}', { params: { id: first.id } })).wallet
        requireEqual(await found({ refId }), [first.id], 'the refId')
        requireEqual(await found({ refId: randomUUID() }), [], 'an unknown refId')
      },
    },
    {
      about: 'renames a wallet and a set',
      needs: 'entity secret',
      run: async ({ wallets, walletSet, done }) => {
        const [, { id }] = await wallets()
        const { wallet } = await done('PUT /v1/w3s/wallets/{id}', {
          params: { id },
          body: { name: 'Renamed', refId: 'r' },
        })
        requireEqual([wallet.name, wallet.refId], ['Renamed', 'r'], 'the wallet')
        const set = { params: { id: (await walletSet()).id } }
        await done('PUT /v1/w3s/developer/walletSets/{id}', { ...set, body: { name: 'Renamed' } })
        requireEqual((await done('GET /v1/w3s/walletSets/{id}', set)).walletSet.name, 'Renamed', 'the set')
      },
    },
    {
      about: 'shows no balances, NFTs and transactions of a new wallet',
      needs: 'entity secret',
      run: async ({ wallets, done }) => {
        const [, { id }] = await wallets()
        const { tokenBalances } = await done('GET /v1/w3s/wallets/{id}/balances', { params: { id } })
        requireEqual(tokenBalances, [], 'the balances')
        requireEqual((await done('GET /v1/w3s/wallets/{id}/nfts', { params: { id } })).nfts, [], 'the NFTs')
        const { transactions } = await done('GET /v1/w3s/transactions', { query: { walletIds: id } })
        requireEqual(transactions, [], 'the transactions')
      },
    },
    {
      about: 'says whether an address belongs to a blockchain',
      run: async ({ done, blockchain }) => {
        const isValid = async (address: string) =>
          (
            await done('POST /v1/w3s/transactions/validateAddress', {
              body: { address, blockchain },
            })
          ).isValid
        requireEqual(await isValid('0x000000000000000000000000000000000000dEaD'), true, 'an address')
        requireEqual(await isValid('0x00'), false, 'no address')
      },
    },
  ],
}
