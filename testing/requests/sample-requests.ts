import { randomUUID } from 'node:crypto'
import { base58 } from '@scure/base'
import { nearActions, nearDelegateAction } from '#testing/builders/near-transactions'
import {
  answerCreation,
  freshAddress,
  makeAccount,
  makeContract,
  makeDeposit,
  makeRecipient,
  makeRecipientAddress,
  makeTransientIntent,
  makeWallet,
  makeWalletSet,
  placeContract,
  type World,
} from '#testing/builders/world'
import { bankRequests } from './bank-requests.ts'
import { batchedPaymentRequests } from './batched-payment-requests.ts'
import { challengeRequests } from './challenge-requests.ts'
import { exportRequests } from './export-requests.ts'
import { jsonRpcRequests } from './json-rpc-requests.ts'
import { keyed } from './keyed-request.ts'
import { messageRequests } from './message-requests.ts'
import { modularRequests } from './modular-requests.ts'
import { monitorRequests } from './monitor-requests.ts'
import { notificationRequests } from './notification-requests.ts'
import { operatorRequests } from './operator-requests.ts'
import { paymentPageRequests } from './payment-page-requests.ts'
import { payoutBatchRequests } from './payout-batch-requests.ts'
import { reviewRequests } from './review-requests.ts'
import type { RequestSamples } from './sample-request.ts'
import { screeningRequests } from './screening-requests.ts'
import { templateRequests } from './template-requests.ts'
import { transferRequests } from './transfer-requests.ts'
import { unifiedRequests } from './unified-requests.ts'
import { upgradeRequests } from './upgrade-requests.ts'
import { userRequests } from './user-requests.ts'
import { x402Requests } from './x402-requests.ts'

const byId = (find: (world: World) => Promise<{ id: string }>): RequestSamples => ({
  request: async (world) => ({ params: { id: (await find(world)).id } }),
})
const nothing: RequestSamples = { request: async () => ({}) }
/** The suites that go through all operations start two chains. */
const otherBlockchainOf = (world: World) => world.harness.chains[1]!.blockchain
const blockchainOf = (world: World) => world.harness.chain().blockchain

/** The wrong secret, which every operation that signs must refuse. */
const wrongSecret = async () => ({ entitySecretCiphertext: Buffer.alloc(512, 7).toString('base64') })

const executionBody = async (world: World) => ({
  walletId: (await world.fundedWallet()).id,
  contractAddress: world.harness.chain().tokens.USDC,
  abiFunctionSignature: 'approve(address,uint256)',
  abiParameters: [freshAddress(), '7'],
})

const abiJson = JSON.stringify([
  {
    type: 'function',
    name: 'answer',
    inputs: [],
    outputs: [{ name: '', type: 'uint256' }],
    stateMutability: 'view',
  },
])
const otherAbiJson = abiJson.replace('answer', 'reply')

const deploymentBody = async (world: World) => ({
  name: 'Exemplary',
  walletId: (await world.fundedWallet()).id,
  blockchain: blockchainOf(world),
  abiJson,
  bytecode: answerCreation,
  feeLevel: 'MEDIUM',
})

const signed = (fields: (world: World) => Promise<object>): RequestSamples => ({
  request: async (world) => ({
    body: {
      entitySecretCiphertext: await world.tenant.sealSecret(),
      walletId: (await world.wallet()).id,
      ...(await fields(world)),
    },
  }),
})

const typedData = JSON.stringify({
  domain: { name: 'Exemplary', chainId: 84532 },
  types: { Order: [{ name: 'amounts', type: 'uint256[]' }] },
  primaryType: 'Order',
  message: { amounts: ['1', 2] },
})

const identity = {
  type: 'business',
  name: 'Exemplaire SARL',
  addresses: [{ line1: '1 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }],
}

/** By method and documented path. An operation that is missing here fails the suites that go through all of them. */
export const sampleRequests: Record<string, RequestSamples> = {
  'GET /metrics': nothing,
  ...operatorRequests,
  ...payoutBatchRequests,
  ...exportRequests,
  'GET /operator/chains': nothing,
  'GET /operator/pageOrigins': nothing,
  'PUT /operator/pageOrigins': { request: async () => ({ body: { origins: ['https://shop.example'] } }) },
  'GET /operator/movements': nothing,
  'GET /operator/movements/{id}': byId((world) => makeDeposit(world)),
  'GET /operator/movements/{id}/timeline': byId((world) => makeDeposit(world)),
  'GET /operator/events': nothing,
  'GET /operator/accounts': nothing,
  'GET /operator/accounts/{id}': byId((world) => makeAccount(world)),
  'GET /operator/accounts/{id}/entries': byId((world) => makeAccount(world)),
  'GET /v1/w3s/config/entity': nothing,
  'GET /v1/w3s/config/entity/publicKey': nothing,
  'POST /v1/w3s/developer/walletSets': {
    request: (world) => keyed(world, { name: 'Exemplary' }),
    changes: async () => ({ name: 'Other' }),
    refused: wrongSecret,
  },
  'GET /v1/w3s/walletSets': nothing,
  'GET /v1/w3s/walletSets/{id}': byId((world) => world.walletSet()),
  'PUT /v1/w3s/developer/walletSets/{id}': {
    request: async (world) => ({ params: { id: (await world.walletSet()).id }, body: { name: 'Renamed' } }),
  },
  'POST /v1/w3s/developer/wallets': {
    request: async (world) =>
      keyed(world, {
        walletSetId: (await world.walletSet()).id,
        blockchains: [blockchainOf(world)],
        count: 2,
        metadata: [{ name: 'one', refId: 'r1' }, { name: 'two' }],
      }),
    changes: async (world) => ({
      walletSetId: (await makeWalletSet(world)).walletSet.id,
      blockchains: [otherBlockchainOf(world)],
      metadata: [{ name: 'one', refId: 'r1' }, { name: 'other' }],
    }),
    refused: wrongSecret,
  },
  'GET /v1/w3s/wallets': nothing,
  'GET /v1/w3s/wallets/{id}': byId((world) => world.wallet()),
  'PUT /v1/w3s/wallets/{id}': {
    request: async (world) => ({
      params: { id: (await world.wallet()).id },
      body: { name: 'Renamed', refId: 'r2' },
    }),
  },
  'PUT /v1/w3s/developer/wallets/{id}/blockchains/{blockchain}': {
    request: async (world) => ({
      params: { id: (await makeWallet(world)).id, blockchain: otherBlockchainOf(world) },
      body: { metadata: { name: 'Derived' } },
    }),
  },
  'PUT /v1/w3s/developer/wallets/derive': {
    request: async (world) => {
      const { address, blockchain } = await makeWallet(world)
      return {
        body: {
          sourceBlockchain: blockchain,
          walletAddress: address,
          targetBlockchain: otherBlockchainOf(world),
        },
      }
    },
  },
  'GET /v1/w3s/developer/wallets/balances': {
    request: async (world) => ({ query: { blockchain: blockchainOf(world) } }),
  },
  'GET /v1/w3s/wallets/{id}/balances': byId((world) => world.fundedWallet()),
  'GET /v1/w3s/wallets/{id}/nfts': byId((world) => world.wallet()),
  'GET /v1/w3s/tokens/{id}': byId(async (world) => ({ id: world.usdcId })),
  'GET /v1/w3s/config/entity/monitoredTokens': nothing,
  'POST /v1/w3s/config/entity/monitoredTokens': {
    request: async (world) => ({ body: { tokenIds: [world.usdcId] } }),
  },
  'PUT /v1/w3s/config/entity/monitoredTokens': {
    request: async (world) => ({ body: { tokenIds: [world.usdcId] } }),
  },
  'POST /v1/w3s/config/entity/monitoredTokens/delete': {
    request: async (world) => ({ body: { tokenIds: [world.usdcId] } }),
  },
  'PUT /v1/w3s/config/entity/monitoredTokens/scope': {
    request: async () => ({ body: { scope: 'MONITOR_ALL' } }),
  },
  ...transferRequests,
  ...upgradeRequests,
  ...messageRequests,
  ...unifiedRequests,
  ...x402Requests,
  ...paymentPageRequests,
  ...bankRequests,
  ...batchedPaymentRequests,
  'POST /v1/w3s/developer/transactions/contractExecution': {
    request: async (world) => keyed(world, { ...(await executionBody(world)), feeLevel: 'MEDIUM' }),
    changes: async (world) => ({
      contractAddress: freshAddress(),
      abiFunctionSignature: 'increaseAllowance(address,uint256)',
      abiParameters: [freshAddress(), '8'],
      amount: '0.001',
      walletId: (await makeWallet(world)).id,
      feeLevel: 'HIGH',
      refId: 'another',
    }),
    refused: async () => ({ abiParameters: ['8'] }),
  },
  'POST /v1/w3s/developer/transactions/{id}/accelerate': {
    request: async (world) => ({
      ...(await keyed(world, {})),
      params: { id: (await world.sentTransfer('accelerate')).id },
    }),
    changes: async () => ({}),
    refused: wrongSecret,
  },
  'POST /v1/w3s/developer/transactions/{id}/cancel': {
    request: async (world) => ({
      ...(await keyed(world, {})),
      params: { id: (await world.sentTransfer('cancel')).id },
    }),
    changes: async () => ({}),
    refused: wrongSecret,
  },
  'POST /v1/w3s/transactions/contractExecution/estimateFee': {
    request: async (world) => ({ body: await executionBody(world) }),
  },
  'GET /v1/w3s/contracts': nothing,
  'GET /v1/w3s/contracts/{id}': byId((world) => makeContract(world)),
  'PATCH /v1/w3s/contracts/{id}': {
    request: async (world) => ({
      params: { id: (await makeContract(world)).id },
      body: { name: 'Renamed', description: 'Old', archived: true },
    }),
  },
  'POST /v1/w3s/contracts/import': {
    request: async (world) => ({
      body: {
        idempotencyKey: randomUUID(),
        name: 'Exemplary',
        address: await placeContract(world),
        blockchain: blockchainOf(world),
        abiJson,
      },
    }),
    changes: async (world) => ({
      name: 'Other',
      description: 'Other',
      address: await placeContract(world),
      refreshVerification: true,
      abiJson: otherAbiJson,
    }),
    refused: async () => ({ abiJson: '{}' }),
  },
  'POST /v1/w3s/contracts/query': {
    request: async (world) => ({
      body: {
        address: await placeContract(world),
        blockchain: blockchainOf(world),
        abiJson,
        abiFunctionSignature: 'answer()',
      },
    }),
  },
  'POST /v1/w3s/contracts/deploy': {
    request: async (world) => keyed(world, await deploymentBody(world)),
    changes: async (world) => ({
      name: 'Other',
      description: 'Other',
      walletId: (await makeWallet(world)).id,
      abiJson: otherAbiJson,
      bytecode: `${answerCreation}00`,
      feeLevel: 'HIGH',
      refId: 'another',
    }),
    refused: async () => ({ constructorParameters: ['1'] }),
  },
  'POST /v1/w3s/contracts/deploy/estimateFee': {
    request: async (world) => ({
      body: { walletId: (await world.fundedWallet()).id, bytecode: answerCreation },
    }),
  },
  ...templateRequests,
  ...jsonRpcRequests,
  ...modularRequests,
  ...screeningRequests,
  ...reviewRequests,
  ...monitorRequests,
  ...notificationRequests,
  ...userRequests,
  ...challengeRequests,
  'POST /v1/w3s/developer/sign/message': signed(async () => ({ message: 'I agree.' })),
  'POST /v1/w3s/developer/sign/typedData': signed(async () => ({ data: typedData })),
  'POST /v1/w3s/developer/sign/typeData': signed(async () => ({ data: typedData })),
  'POST /v1/w3s/developer/sign/transaction': signed(async (world) => ({
    transaction: JSON.stringify({
      to: freshAddress(),
      value: '1',
      gas: '21000',
      maxFeePerGas: '0x3b9aca00',
      maxPriorityFeePerGas: '0x1',
      nonce: 0,
      chainId: world.harness.chain().chainId,
    }),
  })),
  'POST /v1/w3s/developer/sign/delegateAction': signed(async (world) => {
    const wallet = await makeWallet(world, undefined, 'NEAR-TESTNET')
    return {
      walletId: wallet.id,
      unsignedDelegateAction: nearDelegateAction({
        signer: wallet.address,
        publicKey: base58.encode(Buffer.from(wallet.address, 'hex')),
        receiver: 'bob.testnet',
        actions: [nearActions.transfer(1n)],
      }).toString('base64'),
    }
  }),
  'GET /v1/w3s/transactions': nothing,
  'GET /v1/w3s/transactions/lowestNonceTransaction': {
    request: async (world) => ({ query: { walletId: (await world.fundedWallet()).id } }),
  },
  'GET /v1/w3s/transactions/{id}': byId((world) => world.transfer()),
  'POST /v1/w3s/transactions/validateAddress': {
    request: async (world) => ({ body: { address: freshAddress(), blockchain: blockchainOf(world) } }),
  },
  'GET /v1/w3s/developer/transactions/feeParameters': {
    request: async (world) => ({ query: { blockchain: blockchainOf(world) } }),
  },
  'POST /v1/faucet/drips': {
    request: async (world) => ({
      body: { address: freshAddress(), blockchain: blockchainOf(world), native: true, usdc: true },
    }),
  },
  'GET /ping': { request: async () => ({}) },
  'GET /ready': { request: async () => ({}) },
  'GET /v1/configuration': nothing,
  'GET /v1/stablecoins': nothing,
  'POST /v1/paymentIntents': {
    request: async () => ({
      body: {
        idempotencyKey: randomUUID(),
        currency: 'USD',
        settlementCurrency: 'USD',
        type: 'continuous',
        paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
        purposeOfTransfer: 'PMT001',
      },
    }),
    changes: async () => ({
      currency: 'EUR',
      paymentMethods: [{ type: 'blockchain', chain: 'ETH' }],
      merchantWalletId: '1',
      purposeOfTransfer: 'PMT002',
    }),
    refused: async () => ({ currency: 'BTC', settlementCurrency: 'BTC' }),
  },
  'GET /v1/paymentIntents': nothing,
  'GET /v1/paymentIntents/metadata/supportedCurrencies': nothing,
  'GET /v1/paymentIntents/{id}': byId((world) => world.paymentIntent()),
  'POST /v1/paymentIntents/{id}/expire': byId((world) => makeTransientIntent(world)),
  'GET /v1/businessAccount/balances': nothing,
  'GET /v1/payments': nothing,
  'GET /v1/payments/{id}': byId((world) => world.payment()),
  'POST /v1/paymentIntents/{id}/refund': {
    request: async (world) => ({
      params: { id: (await world.paidIntent()).id },
      body: {
        idempotencyKey: randomUUID(),
        destination: { address: freshAddress(), chain: 'BASE' },
        amount: { currency: 'USD' },
        toAmount: { amount: '0.01', currency: 'USD' },
      },
    }),
    changes: async () => ({
      destination: { address: freshAddress(), chain: 'BASE' },
      toAmount: { amount: '0.02', currency: 'USD' },
    }),
    refused: async () => ({ toAmount: { amount: '0', currency: 'USD' } }),
  },
  'POST /v1/payouts': {
    request: async (world) => {
      await world.money()
      const { id } = await world.payee()
      return {
        body: {
          idempotencyKey: randomUUID(),
          source: { type: 'wallet', id: '', identities: [identity] },
          destination: { type: 'address_book', id },
          amount: { amount: '0.01', currency: 'USD' },
          toAmount: { currency: 'USD' },
          purposeOfTransfer: 'PMT001',
        },
      }
    },
    changes: async (world) => ({
      source: { type: 'wallet', id: '', identities: [{ ...identity, name: 'Another' }] },
      destination: { type: 'address_book', id: (await world.recipient()).id },
      amount: { amount: '0.02', currency: 'USD' },
      toAmount: { amount: '0.010', currency: 'USD' },
      purposeOfTransfer: 'PMT002',
    }),
    refused: async () => ({ amount: { amount: '0', currency: 'USD' } }),
  },
  'GET /v1/payouts': nothing,
  'POST /v1/businessAccount/transfers': {
    request: async (world) => {
      await world.money()
      const { id: addressId } = await world.ownAddress()
      return {
        body: {
          idempotencyKey: randomUUID(),
          source: { type: 'wallet', id: '' },
          destination: { type: 'verified_blockchain', addressId },
          amount: { amount: '0.01', currency: 'USD' },
        },
      }
    },
    changes: async (world) => ({
      source: { type: 'wallet', id: '1000' },
      destination: { type: 'verified_blockchain', addressId: (await makeRecipientAddress(world)).id },
      amount: { amount: '0.02', currency: 'USD' },
    }),
    refused: async () => ({ amount: { amount: '0', currency: 'USD' } }),
  },
  'GET /v1/businessAccount/transfers': nothing,
  'GET /v1/businessAccount/transfers/{id}': byId((world) => world.businessTransfer()),
  'GET /v1/payouts/{id}': byId((world) => world.payout()),
  'POST /v1/addressBook/recipients': {
    request: async () => ({
      body: {
        idempotencyKey: randomUUID(),
        chain: 'BASE',
        address: freshAddress(),
        metadata: { nickname: 'Ada', email: 'ada@example.com', bns: 'ada.eth' },
      },
    }),
    changes: async () => ({
      chain: 'ETH',
      address: freshAddress(),
      addressTag: '7',
      metadata: { nickname: 'Ada', email: 'ada@example.com' },
    }),
    refused: async () => ({ address: 'ada.eth' }),
  },
  'GET /v1/addressBook/recipients': nothing,
  'GET /v1/addressBook/recipients/{id}': byId((world) => world.recipient()),
  'PATCH /v1/addressBook/recipients/{id}': {
    request: async (world) => ({
      params: { id: (await world.recipient()).id },
      body: { metadata: { nickname: 'Ada L.', email: null, bns: '' } },
    }),
  },
  'POST /v1/businessAccount/wallets/addresses/recipient': {
    request: async () => ({
      body: {
        idempotencyKey: randomUUID(),
        chain: 'BASE',
        address: freshAddress(),
        currency: 'USD',
        description: 'Our cold wallet',
        identity,
        ownership: { type: 'first_party', custody: { type: 'self_hosted' } },
      },
    }),
    changes: async () => ({
      chain: 'ETH',
      address: freshAddress(),
      addressTag: '7',
      currency: 'EUR',
      description: 'Our warm wallet',
      identity: { ...identity, name: 'Another' },
      ownership: { type: 'third_party' },
    }),
    refused: async () => ({ identity: { ...identity, type: 'estate' } }),
  },
  'POST /v1/businessAccount/wallets/addresses/deposit': {
    request: async () => ({ body: { idempotencyKey: randomUUID(), chain: 'BASE', currency: 'USD' } }),
    changes: async () => ({ chain: 'ETH', currency: 'EUR' }),
    refused: async () => ({ chain: 'SOL' }),
  },
  'GET /v1/businessAccount/wallets/addresses/deposit': nothing,
  'GET /v1/businessAccount/deposits': nothing,
  'GET /v1/businessAccount/deposits/{id}': byId((world) => makeDeposit(world)),
  'POST /v1/mocks/payments/wire': {
    request: async () => ({
      body: {
        trackingRef: 'CIR2Y3BBTP',
        amount: { amount: '12.34', currency: 'USD' },
        beneficiaryBank: { accountNumber: '11111111111' },
      },
    }),
  },
  'GET /v1/businessAccount/wallets/addresses/recipient': nothing,
  'DELETE /v1/businessAccount/wallets/addresses/recipient/{id}': byId((world) => makeRecipientAddress(world)),
  'DELETE /v1/addressBook/recipients/{id}': byId((world) => makeRecipient(world)),
}
