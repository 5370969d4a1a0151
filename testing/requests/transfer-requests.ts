import { freshAddress, makeWallet } from '#testing/builders/world'
import { keyed } from './keyed-request.ts'
import type { RequestSamples } from './sample-request.ts'

const transfer: RequestSamples = {
  request: async (world) =>
    keyed(world, {
      walletId: (await world.fundedWallet()).id,
      tokenId: world.usdcId,
      destinationAddress: freshAddress(),
      amounts: ['0.01'],
      feeLevel: 'MEDIUM',
    }),
  changes: async (world) => ({
    amounts: ['0.02'],
    destinationAddress: freshAddress(),
    walletId: (await makeWallet(world)).id,
    feeLevel: 'HIGH',
    refId: 'another',
  }),
  refused: async () => ({ amounts: ['1000000'] }),
}

/** A batch of items of an ERC-1155 contract. */
const transferOfItems: RequestSamples = {
  request: async (world) => {
    const { id: walletId, blockchain } = await world.fundedWallet()
    const { address: tokenAddress } = await world.collection()
    return keyed(world, {
      walletId,
      blockchain,
      tokenAddress,
      nftTokenIds: ['0', '1'],
      amounts: ['1', '2'],
      destinationAddress: freshAddress(),
      feeLevel: 'MEDIUM',
    })
  },
  changes: async (world) => ({
    amounts: ['2', '2'],
    nftTokenIds: ['1', '0'],
    destinationAddress: freshAddress(),
    walletId: (await makeWallet(world)).id,
    feeLevel: 'HIGH',
    refId: 'another',
  }),
  refused: async () => ({ amounts: ['1', '100000000'] }),
}

/** Sample requests for transfers: of coins and of a batch of NFTs; the estimate is for one of an ERC-721 contract. */
export const transferRequests: Record<string, RequestSamples> = {
  'POST /v1/w3s/developer/transactions/transfer': transfer,
  'POST /v1/w3s/transactions/transfer': transferOfItems,
  'POST /v1/w3s/transactions/transfer/estimateFee': {
    request: async (world) => ({
      body: {
        walletId: (await world.fundedWallet()).id,
        blockchain: world.harness.chain().blockchain,
        tokenAddress: (await world.pictures()).address,
        nftTokenIds: ['0'],
        amounts: ['1'],
        destinationAddress: freshAddress(),
      },
    }),
  },
}
