import { expect } from 'vitest'
import { freshAddress } from '#testing/builders/world'

type TokenIds = { pictures: string; cards: string; usdc: string }

/** Transfers that are refused: their fields, by the ids of an ERC-721, an ERC-1155 and an ERC-20 token, and the error. */
export const nftRefusals: readonly [string, (ids: TokenIds) => object, object][] = [
  [
    'no NFT',
    ({ cards: tokenId }) => ({ tokenId, amounts: ['1'] }),
    { code: 155218, errors: [{ location: 'nftTokenIds' }] },
  ],
  [
    'two of an ERC-721',
    ({ pictures: tokenId }) => ({ tokenId, amounts: ['1', '1'], nftTokenIds: ['0', '1'] }),
    { code: 155218 },
  ],
  [
    'another number of amounts',
    ({ cards: tokenId }) => ({ tokenId, amounts: ['1'], nftTokenIds: ['0', '1'] }),
    { code: 155242, errors: [{ location: 'amounts' }] },
  ],
  [
    'an NFT twice',
    ({ cards: tokenId }) => ({ tokenId, amounts: ['1', '1'], nftTokenIds: ['0', '00'] }),
    { code: 2, errors: [{ location: 'nftTokenIds[1]' }] },
  ],
  [
    'an id that is no number',
    ({ cards: tokenId }) => ({ tokenId, amounts: ['1'], nftTokenIds: ['0x1'] }),
    { code: 2, errors: [{ location: 'nftTokenIds[0]' }] },
  ],
  [
    'a part of an NFT',
    ({ cards: tokenId }) => ({ tokenId, amounts: ['0.5'], nftTokenIds: ['0'] }),
    { code: 155221, errors: [{ location: 'amounts[0]' }] },
  ],
  [
    'two of one ERC-721',
    ({ pictures: tokenId }) => ({ tokenId, amounts: ['2'], nftTokenIds: ['0'] }),
    { code: 155221 },
  ],
  [
    'an unknown NFT',
    ({ cards: tokenId }) => ({ tokenId, amounts: ['1'], nftTokenIds: ['99'] }),
    { code: 156011, errors: [{ location: 'nftTokenIds[0]' }] },
  ],
  [
    'amounts that no contract has',
    ({ cards: tokenId }) => ({
      tokenId,
      amounts: [String(2n ** 256n - 1n), String(2n ** 256n - 1n)],
      nftTokenIds: ['0', '1'],
    }),
    { code: 155201 },
  ],
  [
    'NFTs of a fungible token',
    ({ usdc: tokenId }) => ({ tokenId, amounts: ['1'], nftTokenIds: ['0'] }),
    { code: 2, errors: [{ location: 'nftTokenIds' }] },
  ],
  [
    'an address without a contract',
    () => ({ tokenAddress: freshAddress(), amounts: ['1'] }),
    {
      code: 156031,
      errors: [{ location: 'tokenAddress', message: expect.stringContaining('not the address') }],
    },
  ],
]
